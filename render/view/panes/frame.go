package panes

import (
	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/theme"
)

// SetBorders sets whether all panes have a border. Floating panes always have one.
func (s *Set) SetBorders(on bool) { s.framed = on }

// FloatAreas returns the areas covered by floating panes.
func (s *Set) FloatAreas() []layout.Rect { return s.floatAreas }

// A border takes two columns and two rows; smaller panes have none.
const (
	framedFrom     = 4
	framedFromRows = 3
)

// hasBorder reports whether the pane has a border.
func (p *Pane) hasBorder() bool {
	return (p.float || p.set != nil && p.set.framed) && !p.folded && p.Area.W >= framedFrom && p.Area.H >= framedFromRows
}

// edge returns the style of borders.
func edge(th *theme.Theme, focused bool) *tcell.Style {
	if focused {
		return &th.SeparatorNow
	}
	return &th.Separator
}

// drawBorder draws the border without the title, unless it is already drawn.
func (p *Pane) drawBorder(c *canvas.Canvas, th *theme.Theme, focused bool) {
	want := edge(th, focused)
	if !p.hasBorder() || p.edge == want {
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

// covering returns the areas of floating panes above a pane.
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
