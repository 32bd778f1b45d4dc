package copymode

import (
	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/statusbar"
	"github.com/longterm-dev/longterm/render/view/theme"
)

// DrawRow draws row i of the pane, with matches and the selection highlighted.
func (m *Mode) DrawRow(c *canvas.Canvas, th *theme.Theme, at layout.Rect, i int, reverse bool) {
	row := m.top + i
	line := m.page.Line(row)
	c.Line(at, line, m.page.Cols, 0, reverse)
	if m.search != nil && line != nil {
		for _, mark := range m.search.Marks(nil, row, line) {
			st := th.Found
			if mark.Current {
				st = th.FoundNow
			}
			from, to := min(mark.From, at.W), min(mark.To, at.W)
			c.Restyle(at.X+from, at.Y, to-from, st)
		}
	}
	if m.sel != nil {
		if from, to, ok := m.sel.Columns(&m.page, row); ok {
			from, to = min(from, at.W), min(to, at.W)
			c.Restyle(at.X+from, at.Y, to-from, th.Selected)
		}
	}
	for _, p := range m.places {
		if p.Row == row { // where a command was typed
			c.Restyle(at.X, at.Y, 1, th.On(canvas.Plain.Reverse(true), th.Busy))
		}
	}
}

// Cols returns the width of the rows.
func (m *Mode) Cols() int { return m.page.Cols }

// HasMark reports whether row i of the pane has a match or a selection. It is false for a nil Mode.
func (m *Mode) HasMark(i int) bool {
	if m == nil {
		return false
	}
	row := m.top + i
	if m.sel != nil {
		if _, _, ok := m.sel.Columns(&m.page, row); ok {
			return true
		}
	}
	line := m.page.Line(row)
	return m.search != nil && line != nil && len(m.search.Marks(nil, row, line)) > 0
}

// Cursor returns the cursor's position in the pane. It returns false if the cursor is hidden.
func (m *Mode) Cursor() (row, col int, shown bool) {
	row = m.cursor.Row - m.top
	return row, m.cursor.Col, m.hasCursor && row >= 0 && row < m.height
}

// Position returns the scroll position for a pane's title row.
func (m *Mode) Position() *statusbar.Position {
	return &statusbar.Position{Below: max(m.page.End()-m.top-m.height, 0), Above: m.page.End() - m.height}
}
