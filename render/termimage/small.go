package termimage

import (
	"image"

	xdraw "golang.org/x/image/draw"

	"github.com/longterm-dev/longterm/vterm"
)

// maxSmall bounds the pixels that a Small keeps.
const maxSmall = 1 << 21

// decoding bounds how many images are made small at a time: each takes tens of megabytes while that lasts.
var decoding = make(chan struct{}, 1)

// Small keeps images with few pixels, and not those they were made of. It belongs to one goroutine; the zero value is
// ready.
type Small struct {
	known  map[size]*image.NRGBA // nil: it is none
	pixels int
}

// Of is an image with w × h pixels; nil: it is none, or would be no small one.
func (s *Small) Of(img *vterm.Image, w, h int) *image.NRGBA {
	if w < 1 || h < 1 || h > maxSmall/w {
		return nil
	}
	key := size{img, w, h}
	if out, known := s.known[key]; known {
		return out
	}
	if s.known == nil || s.pixels+w*h > maxSmall || len(s.known) >= maxKeys {
		s.known, s.pixels = map[size]*image.NRGBA{}, 0
	}
	s.known[key], s.pixels = smaller(img, w, h), s.pixels+w*h
	return s.known[key]
}

func smaller(img *vterm.Image, w, h int) *image.NRGBA {
	decoding <- struct{}{}
	defer func() { <-decoding }()
	pic, err := Decode(img)
	if err != nil {
		return nil
	}
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	xdraw.BiLinear.Scale(out, out.Rect, pic, pic.Rect, xdraw.Src, nil)
	return out
}
