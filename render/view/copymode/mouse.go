package copymode

import "github.com/longterm-dev/longterm/render/view/page"

// At returns the cell at a row and a column of the pane, from 0, or the nearest one.
func (m *Mode) At(row, col int) page.Pos {
	return m.page.Clamp(page.Pos{Row: m.top + min(max(row, 0), m.height-1), Col: max(col, 0)})
}

// HasSelection reports whether text is selected. It is false for a nil Mode.
func (m *Mode) HasSelection() bool { return m != nil && m.sel != nil }

// Unselect drops the selection.
func (m *Mode) Unselect() {
	if m.sel != nil {
		m.sel, m.changed = nil, true
	}
}

// Select starts a selection at a cell.
func (m *Mode) Select(at page.Pos, unit page.Unit) {
	m.sel = &page.Selection{Anchor: at, Head: at, Unit: unit}
	m.cursor, m.changed = at, true
}

// Drag extends the selection to a row and a column of the pane. Beyond the pane it scrolls first while the button is
// held.
func (m *Mode) Drag(row, col int, held bool) {
	if held {
		if row < 0 {
			m.scroll(row)
		} else if row >= m.height {
			m.scroll(row - m.height + 1)
		}
		m.Fetch(nil)
	}
	if to := m.At(row, col); to != m.sel.Head {
		m.sel.Head, m.cursor, m.changed = to, to, true
	}
}

// EndDrag ends a drag and copies the selection. On the live screen the selection lasts until further output.
func (m *Mode) EndDrag() {
	m.CopySelection()
	m.endsOnOutput = m.atEnd() && !m.hasCursor
}

// LeaveIfIdle ends copy mode if the newest rows are shown, without a cursor and a selection.
func (m *Mode) LeaveIfIdle() {
	if m.idle() {
		m.Leave()
	}
}
