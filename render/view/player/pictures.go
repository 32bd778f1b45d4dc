package player

import (
	"image"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/termimage"
	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/picture"
	"github.com/longterm-dev/longterm/vterm"
)

// pictures holds the images of the recording's screen, for terminals that can draw them.
type pictures struct {
	rows  map[int][]render.Picture
	shown map[string]*vterm.Image // images by key
	keys  termimage.Keys
	store picture.Store
}

// queryImageSupport queries which images the terminal can draw. Until it answers, images are drawn as blocks.
func (p *player) queryImageSupport() {
	p.supportReported = make(chan picture.Support, 16)
	p.blocks.Images = true
	if p.o.NoColor {
		return
	}
	canvas.QueryImageSupport(p.o.Screen, func(m picture.Support) {
		select {
		case p.supportReported <- m:
		default: // more reports than a terminal sends
		}
	})
}

// note records the images of lines before blocks replace them.
func (s *pictures) note(lines []render.Line) {
	for i := range lines {
		for _, span := range lines[i].Spans {
			if span.Image == nil {
				continue
			}
			if s.shown == nil {
				s.shown = map[string]*vterm.Image{}
			}
			s.shown[s.keys.Key(span.Image.Image)] = span.Image.Image
		}
	}
}

// noteChanged records the images of changed lines.
func (s *pictures) noteChanged(lines []render.Line) {
	for i := range lines {
		if len(lines[i].Pictures) == 0 {
			delete(s.rows, lines[i].Row)
			continue
		}
		if s.rows == nil {
			s.rows = map[int][]render.Picture{}
		}
		s.rows[lines[i].Row] = lines[i].Pictures
	}
	if len(s.rows) == 0 {
		s.shown = nil
	}
}

// get returns an image's pixels.
func (s *pictures) get(key string) (*image.NRGBA, bool) {
	if pic, ok := s.store.Get(key); ok {
		return pic, true
	}
	img := s.shown[key]
	if img == nil {
		return nil, false
	}
	pic, err := termimage.Decode(img)
	if err != nil {
		pic = &image.NRGBA{}
	}
	s.store.Put(key, pic)
	return s.store.Get(key)
}

// drawPictures draws the images over their cells, above the status bar.
func (p *player) drawPictures(w, h int) {
	if !p.canvas.CanDrawImages() {
		return
	}
	p.pictures.store.Begin()
	for row := range h - 1 { // from the top to the bottom
		var parts []picture.Part
		for _, at := range p.pictures.rows[row] {
			parts = append(parts, picture.Part{X: at.Col, W: at.Width, Key: at.Key, FromX: at.X, FromY: at.Y, Cols: at.Cols, Rows: at.Rows})
		}
		p.canvas.PictureRow(layout.Rect{X: 0, Y: row, W: w, H: 1}, parts, p.pictures.get)
	}
}
