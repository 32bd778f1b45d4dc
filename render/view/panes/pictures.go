package panes

import (
	"image"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/picture"
)

// DrawPictures has the images that can be seen drawn over their cells. Those that are not here are asked for, once.
func (s *Set) DrawPictures(c *canvas.Canvas) {
	if !c.DrawsPictures() {
		return
	}
	s.pictures.Begin()
	for _, p := range s.panes {
		if p.Copying() != nil {
			continue
		}
		c.Under(p.above)
		p.drawPictures(c)
	}
	c.Under(nil)
}

func (p *Pane) drawPictures(c *canvas.Canvas) {
	in := p.Inner()
	for i := range in.H {
		line := p.row(i)
		if line == nil || len(line.Pictures) == 0 {
			continue
		}
		parts := make([]picture.Part, 0, len(line.Pictures))
		for _, at := range line.Pictures {
			if at.Col < 0 || at.Width < 1 || at.Col+at.Width > p.screen.Cols || at.X < 0 || at.Y < 0 {
				continue // another daemon says so
			}
			parts = append(parts, picture.Part{
				X: in.X + at.Col - p.left, W: at.Width, Key: at.Key, FromX: at.X, FromY: at.Y, Cols: at.Cols, Rows: at.Rows,
			})
		}
		c.PictureRow(layout.Rect{X: in.X, Y: in.Y + i, W: in.W, H: 1}, parts, p.picture)
	}
}

// picture is an image; false: it is asked for.
func (p *Pane) picture(key string) (*image.NRGBA, bool) {
	pic, ok := p.set.pictures.Get(key)
	if !ok && !p.asked[key] {
		if p.asked == nil {
			p.asked = map[string]bool{}
		}
		p.asked[key] = true
		p.stream.Picture(key)
	}
	return pic, ok
}

// take keeps an image that was asked for. One that is not shown any more may be shown again.
func (p *Pane) take(pic *Picture) {
	delete(p.asked, pic.Key)
	if len(pic.PNG) > 0 {
		p.set.pictures.Put(pic.Key, pic.PNG)
	}
}
