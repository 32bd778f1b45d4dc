package panes

import (
	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/bars"
	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/theme"
)

// StatusOf is what is known of a session for its pane's first row; false: nothing.
type StatusOf func(id string) (s bars.Status, known bool)

// Draw draws what changed of all panes since the last time.
func (s *Set) Draw(c *canvas.Canvas, th *theme.Theme, focused string, status StatusOf) {
	for _, p := range s.panes {
		if m := p.Copying(); m != nil && m.Changed() {
			p.markAll()
		}
		c.Under(p.above)
		p.drawStatus(c, th, status)
		p.drawFrame(c, th, p.ID == focused)
		p.drawRows(c, th, status)
	}
	c.Under(s.over)
	s.drawSeparators(c, th, focused)
	c.Under(nil)
}

// DrawRows draws the rows that changed of panes of which nothing else did.
func (s *Set) DrawRows(c *canvas.Canvas, th *theme.Theme, status StatusOf) {
	for _, p := range s.panes {
		c.Under(p.above)
		p.drawRows(c, th, status)
	}
	c.Under(nil)
}

// Forget has everything drawn again.
func (s *Set) Forget() {
	s.lined = "\x00"
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
	if m := p.Copying(); m.StandsStill() {
		s.Copying = m.Position()
	}
	if p.outgrown(s.Now) {
		s.Cols, s.Rows = p.screen.Cols, p.screen.Rows
	}
	at := p.Area
	if p.framed() {
		at.X, at.W, s.Rule = at.X+1, at.W-2, edge(th, s.Focused)
	}
	p.status = s.Draw(c, th, at, p.status)
}

// drawSeparators draws the columns between panes; beside the focused one they stand out.
func (s *Set) drawSeparators(c *canvas.Canvas, th *theme.Theme, focused string) {
	if s.lined == focused {
		return
	}
	s.lined = focused
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

// drawRows draws the rows of a pane that changed.
func (p *Pane) drawRows(c *canvas.Canvas, th *theme.Theme, status StatusOf) {
	in := p.Inner()
	if boxed := p.outgrown(p.set.host.Now()); boxed != p.boxed {
		p.boxed = boxed
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
		p.drawAhead(c, at, i+p.top)
		if p.boxed {
			p.drawOutside(c, th, at, i)
		}
	}
}

// drawOutside marks what the session's screen does not reach.
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
	if m := p.Copying(); m.StandsStill() {
		row, col, shown := m.Cursor()
		x, y := in.X+col, in.Y+row
		if !shown || !in.Contains(x, y) || canvas.Covers(p.above, x, y) {
			c.HideCursor()
			return
		}
		c.ShowCursor(x, y, tcell.CursorStyleSteadyBlock)
		return
	}
	own := p.cursor()
	x, y := in.X+own.X-p.left, in.Y+own.Y-p.top
	if !running || !own.Visible || !in.Contains(x, y) || canvas.Covers(p.above, x, y) {
		c.HideCursor()
		return
	}
	c.ShowCursor(x, y, canvas.CursorStyle(own))
}
