package termimage

import (
	"context"
	"image"
	"weak"

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

// Of is an image with w × h pixels; nil: it is none, or would be no small one, or ctx ended before it was made.
func (s *Small) Of(ctx context.Context, img *vterm.Image, w, h int) *image.NRGBA {
	if w < 1 || h < 1 || h > maxSmall/w {
		return nil
	}
	key := size{weak.Make(img), w, h}
	if out, known := s.known[key]; known {
		return out
	}
	if ctx.Err() != nil {
		return nil
	}
	select {
	case decoding <- struct{}{}:
	case <-ctx.Done():
		return nil
	}
	out := smaller(img, w, h)
	if s.known == nil || s.pixels+w*h > maxSmall || len(s.known) >= maxKept {
		s.known, s.pixels = map[size]*image.NRGBA{}, 0
	}
	s.known[key], s.pixels = out, s.pixels+w*h
	return out
}

// smaller gives the place among those who decode back.
func smaller(img *vterm.Image, w, h int) *image.NRGBA {
	defer func() { <-decoding }()
	pic, err := Decode(img)
	if err != nil {
		return nil
	}
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	xdraw.BiLinear.Scale(out, out.Rect, pic, pic.Rect, xdraw.Src, nil)
	return out
}
