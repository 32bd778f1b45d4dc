package panes

import (
	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/layout"
)

// preview is a session shown next to a list.
type preview struct {
	p    *Pane
	want string
}

// DrawPreview draws a session's live screen.
func (s *Set) DrawPreview(c *canvas.Canvas, at layout.Rect, id string) {
	if s.preview.want != id {
		s.StopPreview()
		s.preview.want = id
		if id != "" {
			area := layout.Rect{W: at.W, H: at.H + 1}
			if s.framed {
				area.W, area.H = at.W+2, at.H+2
			}
			s.preview.p = s.open(layout.Place{Session: id, Area: area}, func(string, layout.Rect) (int, int) { return 0, 0 })
		}
	}
	p := s.preview.p
	for i := range at.H {
		var line *render.Line
		if p != nil {
			line = p.row(i)
		}
		c.Line(layout.Rect{X: at.X, Y: at.Y + i, W: at.W, H: 1}, line, at.W, 0, p != nil && p.modes.ReverseVideo)
	}
}

// StopPreview closes the preview's stream.
func (s *Set) StopPreview() {
	if s.preview.p != nil {
		s.preview.p.stream.Close()
	}
	s.preview = preview{}
}
