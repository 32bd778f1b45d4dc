package panes

import (
	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/theme"
)

// Frames has all panes have a border; floating ones always do.
func (s *Set) Frames(on bool) { s.framed = on }

// Over is what panes that float cover.
func (s *Set) Over() []layout.Rect { return s.over }

// A border takes two columns and two rows; smaller panes have none.
const (
	framedFrom     = 4
	framedFromRows = 3
)

// framed reports whether the pane has a border.
func (p *Pane) framed() bool {
	return (p.float || p.set != nil && p.set.framed) && !p.folded && p.Area.W >= framedFrom && p.Area.H >= framedFromRows
}

// edge is the look of borders.
func edge(th *theme.Theme, focused bool) *tcell.Style {
	if focused {
		return &th.SeparatorNow
	}
	return &th.Separator
}

// drawFrame draws the border but for the title, unless it stands there.
func (p *Pane) drawFrame(c *canvas.Canvas, th *theme.Theme, focused bool) {
	want := edge(th, focused)
	if !p.framed() || p.edge == want {
		return
	}
	p.edge = want
	a := p.Area
	right, bottom := a.X+a.W-1, a.Y+a.H-1
	c.Sign(a.X, a.Y, "┌", *want)
	c.Sign(right, a.Y, "┐", *want)
	for y := a.Y + 1; y < bottom; y++ {
		c.Sign(a.X, y, "│", *want)
		c.Sign(right, y, "│", *want)
	}
	c.Sign(a.X, bottom, "└", *want)
	for x := a.X + 1; x < right; x++ {
		c.Sign(x, bottom, "─", *want)
	}
	c.Sign(right, bottom, "┘", *want)
}

// covering are the parts of the terminal that lie over each pane: those that float and come behind it.
func covering(places []layout.Place, i int) (parts []layout.Rect) {
	a := places[i].Area
	for _, p := range places[i+1:] {
		b := p.Area
		if p.Float && a.X-1 < b.X+b.W && b.X < a.X+a.W+1 && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
			parts = append(parts, b)
		}
	}
	return parts
}
