package panes

import (
	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/statusbar"
	"github.com/longterm-dev/longterm/render/view/theme"
)

// StatusOf returns the status of a session for its pane's title row; known is false if the session is unknown.
type StatusOf func(id string) (s statusbar.Status, known bool)

// Draw draws the changed parts of all panes.
func (s *Set) Draw(c *canvas.Canvas, th *theme.Theme, focused string, status StatusOf) {
	for _, p := range s.panes {
		if m := p.Copying(); m != nil && m.NeedsRedraw() {
			p.markAll()
		}
		c.SetCovered(p.covers)
		p.drawStatus(c, th, status)
		p.drawBorder(c, th, p.ID == focused)
		p.drawRows(c, th, status)
	}
	c.SetCovered(s.floatAreas)
	s.drawSeparators(c, th, focused)
	c.SetCovered(nil)
}

// DrawRows draws the changed rows of panes in which nothing else changed.
func (s *Set) DrawRows(c *canvas.Canvas, th *theme.Theme, status StatusOf) {
	for _, p := range s.panes {
		c.SetCovered(p.covers)
		p.drawRows(c, th, status)
	}
	c.SetCovered(nil)
}

// Forget schedules a full redraw.
func (s *Set) Forget() {
	s.separatorsFor = "\x00"
	for _, p := range s.panes {
		p.markAll()
	}
}

// drawStatus draws the pane's first row.
func (p *Pane) drawStatus(c *canvas.Canvas, th *theme.Theme, status StatusOf) {
	if p.Area.H < 2 && !p.folded {
		return
	}
	s, known := status(p.ID)
	if !known {
		return
	}
	s.Title = p.screen.Title
	if m := p.Copying(); m.IsFrozen() {
		s.Copying = m.Position()
	}
	if p.hasOtherSize(s.Now) {
		s.Cols, s.Rows = p.screen.Cols, p.screen.Rows
	}
	at := p.Area
	if p.hasBorder() {
		at.X, at.W, s.Rule = at.X+1, at.W-2, edge(th, s.Focused)
	}
	p.status = s.Draw(c, th, at, p.status)
}

// drawSeparators draws the columns between panes; those next to the focused pane are highlighted.
func (s *Set) drawSeparators(c *canvas.Canvas, th *theme.Theme, focused string) {
	if s.separatorsFor == focused {
		return
	}
	s.separatorsFor = focused
	w, _ := c.Size()
	focus := s.Get(focused)
	for _, p := range s.panes {
		if p.float || s.framed {
			continue
		}
		x := p.Area.X + p.Area.W
		for y := p.Area.Y; x < w && y < p.Area.Y+p.Area.H; y++ {
			st := th.Separator
			if f := focus; f != nil && !f.float && y >= f.Area.Y && y < f.Area.Y+f.Area.H && (x == f.Area.X-1 || x == f.Area.X+f.Area.W) {
				st = th.SeparatorNow
			}
			c.Sign(x, y, "│", st)
		}
	}
}

// drawRows draws the changed rows of a pane.
func (p *Pane) drawRows(c *canvas.Canvas, th *theme.Theme, status StatusOf) {
	in := p.Inner()
	if boxed := p.hasOtherSize(p.set.host.Now()); boxed != p.outsideMarked {
		p.outsideMarked = boxed
		p.markAll()
		p.drawStatus(c, th, status)
	}
	m := p.Copying()
	for i, dirty := range p.dirty {
		if !dirty {
			continue
		}
		p.dirty[i] = false
		at := layout.Rect{X: in.X, Y: in.Y + i, W: in.W, H: 1}
		if m != nil {
			m.DrawRow(c, th, at, i, p.modes.ReverseVideo)
			continue
		}
		c.Line(at, p.row(i), p.screen.Cols, p.left, p.modes.ReverseVideo)
		p.drawEcho(c, at, i+p.top)
		if p.outsideMarked {
			p.drawOutside(c, th, at, i)
		}
	}
}

// drawOutside marks the area that the session's screen does not cover.
func (p *Pane) drawOutside(c *canvas.Canvas, th *theme.Theme, at layout.Rect, i int) {
	from := min(p.screen.Cols-p.left, at.W)
	if p.row(i) == nil {
		from = 0
	}
	c.Dots(at.X+from, at.Y, at.W-from, th.Outside)
}

// DrawCursor shows the focused session's cursor, or none while keys go elsewhere.
func (s *Set) DrawCursor(c *canvas.Canvas, focused string, running bool) {
	p := s.Get(focused)
	if p == nil {
		c.HideCursor()
		return
	}
	in := p.Inner()
	if m := p.Copying(); m.IsFrozen() {
		row, col, shown := m.Cursor()
		x, y := in.X+col, in.Y+row
		if !shown || !in.Contains(x, y) || canvas.Covers(p.covers, x, y) {
			c.HideCursor()
			return
		}
		c.ShowCursor(x, y, tcell.CursorStyleSteadyBlock)
		return
	}
	own := p.cursor()
	x, y := in.X+own.X-p.left, in.Y+own.Y-p.top
	if !running || !own.Visible || !in.Contains(x, y) || canvas.Covers(p.covers, x, y) {
		c.HideCursor()
		return
	}
	c.ShowCursor(x, y, canvas.CursorStyle(own))
}
