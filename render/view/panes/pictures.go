package panes

import (
	"context"
	"image"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/picture"
)

// DrawPictures draws the visible images over their cells. It requests missing images once.
func (s *Set) DrawPictures(c *canvas.Canvas) {
	if !c.CanDrawImages() {
		return
	}
	s.pictures.Begin()
	for _, p := range s.panes {
		c.SetCovered(p.covers)
		p.drawPictures(c)
	}
	c.SetCovered(nil)
}

func (p *Pane) drawPictures(c *canvas.Canvas) {
	in, cols, left := p.Inner(), p.screen.Cols, p.left
	m := p.Copying()
	if m != nil {
		cols, left = m.Cols(), 0
	}
	for i := range in.H {
		line := p.row(i)
		if line == nil || len(line.Pictures) == 0 || m.HasMark(i) { // what is selected is seen in the blocks
			continue
		}
		parts := make([]picture.Part, 0, len(line.Pictures))
		for _, at := range line.Pictures {
			if at.Col < 0 || at.Width < 1 || at.Col+at.Width > cols || at.X < 0 || at.Y < 0 {
				continue // sent by another daemon
			}
			parts = append(parts, picture.Part{
				X: in.X + at.Col - left, W: at.Width, Key: at.Key, FromX: at.X, FromY: at.Y, Cols: at.Cols, Rows: at.Rows,
			})
		}
		c.PictureRow(layout.Rect{X: in.X, Y: in.Y + i, W: in.W, H: 1}, parts, p.picture)
	}
}

// picture returns an image, or requests it and returns false.
func (p *Pane) picture(key string) (*image.NRGBA, bool) {
	pic, ok := p.set.pictures.Get(key)
	if !ok && !p.requested[key] {
		if p.requested == nil {
			p.requested = map[string]bool{}
		}
		p.requested[key] = true
		p.stream.Picture(key)
	}
	return pic, ok
}

// decodePicture decodes a received image, even if it is no longer shown, because it may be shown again.
func (p *Pane) decodePicture(pic *Picture) {
	if len(pic.PNG) == 0 {
		delete(p.requested, pic.Key)
		return
	}
	s := p.set
	s.host.Spawn(func(ctx context.Context) {
		select { // a large one takes tens of megabytes
		case s.decoding <- struct{}{}:
		case <-ctx.Done():
			return
		}
		defer func() { <-s.decoding }() // not before it is taken: a viewer that is held up has one, not all
		pixels := picture.Decode(pic.PNG)
		select {
		case s.frames <- Arrival{p: p, key: pic.Key, pixels: pixels}:
		case <-ctx.Done():
		}
	})
}

// keep stores a decoded image.
func (p *Pane) keep(key string, pixels *image.NRGBA) {
	delete(p.requested, key)
	p.set.pictures.Put(key, pixels)
}
