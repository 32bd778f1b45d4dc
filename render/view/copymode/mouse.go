package copymode

import "github.com/longterm-dev/longterm/render/view/page"

// At is the cell at a row and a column of the pane, from 0; outside, the nearest one.
func (m *Mode) At(row, col int) page.Pos {
	return m.page.Clamp(page.Pos{Row: m.top + min(max(row, 0), m.height-1), Col: max(col, 0)})
}

// Selecting reports whether something is selected; in a nil Mode nothing is.
func (m *Mode) Selecting() bool { return m != nil && m.sel != nil }

// Unselect gives the selection up.
func (m *Mode) Unselect() {
	if m.sel != nil {
		m.sel, m.changed = nil, true
	}
}

// Select begins to select at a cell.
func (m *Mode) Select(at page.Pos, unit page.Unit) {
	m.sel = &page.Selection{Anchor: at, Head: at, Unit: unit}
	m.cursor, m.changed = at, true
}

// Drag extends the selection to a row and a column of the pane; beyond the pane it scrolls
// first, while the button is held.
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

// Let ends a drag: what is selected is copied. On the live screen it stays only until
// something else is printed.
func (m *Mode) Let() {
	m.CopySelection()
	m.passing = m.atEnd() && !m.keys
}

// LeaveIfIdle leaves when nothing but the newest rows is shown, without a cursor and a
// selection.
func (m *Mode) LeaveIfIdle() {
	if m.idle() {
		m.Leave()
	}
}
