package panes

import "github.com/longterm-dev/longterm/render/view/page"

// Selection is a selection that the mouse extends.
type Selection struct {
	p    *Pane // nil if unset
	unit page.Unit
	x, y int // position of the press
}

// IsActive reports whether text is being selected.
func (s *Selection) IsActive() bool { return s.p != nil }

// Begin starts to select text: characters; with more clicks words or rows; with block a rectangle. A click alone
// selects nothing.
func (s *Selection) Begin(p *Pane, clicks int, block bool, x, y int) {
	unit := [...]page.Unit{1: page.Characters, 2: page.Words, 3: page.Rows}[clicks]
	if block {
		unit = page.Block
	}
	*s = Selection{p, unit, x, y}
	switch m := p.Copying(); {
	case m == nil:
	case m.EndsOnOutput():
		p.LeaveCopyMode()
	default:
		m.Unselect()
	}
	if unit == page.Words || unit == page.Rows {
		s.from(x, y)
	}
}

func (s *Selection) from(x, y int) {
	m := s.p.CopyMode()
	row, col := s.p.cell(x, y)
	m.Select(m.At(row, col), s.unit)
}

// cell returns the row and column of the pane's inner area at a position; the column is the nearest one inside.
func (p *Pane) cell(x, y int) (row, col int) {
	in := p.Inner()
	return y - in.Y, min(max(x, in.X), in.X+in.W-1) - in.X
}

// Drag extends the selection; beyond the pane it scrolls. On release it copies the selection.
func (s *Selection) Drag(x, y int, held bool) {
	if moved := x != s.x || y != s.y; moved && !s.p.Copying().HasSelection() {
		s.from(s.x, s.y)
	}
	m := s.p.Copying()
	if !m.HasSelection() { // a click that selected nothing
		if !held {
			s.p = nil
			if m != nil {
				m.LeaveIfIdle()
			}
		}
		return
	}
	row, col := s.p.cell(x, y)
	m.Drag(row, col, held)
	if !held {
		s.p = nil
		m.EndDrag()
	}
}
