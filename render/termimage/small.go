package termimage

import (
	"context"
	"image"
	"weak"

	xdraw "golang.org/x/image/draw"

	"github.com/longterm-dev/longterm/vterm"
)

// maxSmall limits the pixels that a Thumbnails caches.
const maxSmall = 1 << 21

// scaleSlots limits how many images are scaled concurrently: each takes tens of megabytes while it is scaled.
var scaleSlots = make(chan struct{}, 1)

// Thumbnails scales images down and caches the results, without their source data. It must be used by one goroutine. The
// zero value is ready.
type Thumbnails struct {
	known  map[scaledKey]*image.NRGBA // nil means not an image
	pixels int
}

// Scaled returns an image scaled to w × h pixels. It returns nil if the image is undecodable, would not be small, or ctx
// ended first.
func (s *Thumbnails) Scaled(ctx context.Context, img *vterm.Image, w, h int) *image.NRGBA {
	if w < 1 || h < 1 || h > maxSmall/w {
		return nil
	}
	key := scaledKey{weak.Make(img), w, h}
	if out, known := s.known[key]; known {
		return out
	}
	if ctx.Err() != nil {
		return nil
	}
	select {
	case scaleSlots <- struct{}{}:
	case <-ctx.Done():
		return nil
	}
	out := smaller(img, w, h)
	if s.known == nil || s.pixels+w*h > maxSmall || len(s.known) >= maxCachedImages {
		s.known, s.pixels = map[scaledKey]*image.NRGBA{}, 0
	}
	s.known[key], s.pixels = out, s.pixels+w*h
	return out
}

// smaller scales an image and releases the caller's decoding slot.
func smaller(img *vterm.Image, w, h int) *image.NRGBA {
	defer func() { <-scaleSlots }()
	pic, err := Decode(img)
	if err != nil {
		return nil
	}
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	xdraw.BiLinear.Scale(out, out.Rect, pic, pic.Rect, xdraw.Src, nil)
	return out
}
