package picture

import (
	"bytes"
	"errors"
	"image"
	"image/draw"
	"image/png"
	"slices"
)

// Bounds of what a Store keeps, in pixels and images, and of one image in pixels.
const (
	maxPixels = 1 << 23
	maxImages = 256
	maxImage  = 1 << 22
)

// maxRefused bounds the keys of images that there was no room for.
const maxRefused = 1 << 12

// Store has images by their keys. What is too much is forgotten, the oldest first, and never what is in use: there is no
// room for another one then, or two that are both shown would be asked for by turns for ever. The zero value is empty.
type Store struct {
	images  map[string]*image.NRGBA // nil: it is none
	order   []string
	pixels  int
	used    map[string]bool // of images, since Begin
	refused map[string]bool // there was no room for these
}

// Begin begins a drawing: what Get finds until the next one is in use.
func (s *Store) Begin() {
	if len(s.used) < len(s.images) { // there may be room now
		clear(s.refused)
	}
	clear(s.used)
}

var errTooLarge = errors.New("the image is too large")

// Put takes an image as Decode made it; one that has no room is known as no image.
func (s *Store) Put(key string, pic *image.NRGBA) {
	if _, known := s.images[key]; known {
		return
	}
	if s.images == nil {
		s.images, s.used, s.refused = map[string]*image.NRGBA{}, map[string]bool{}, map[string]bool{}
	}
	for s.pixels+area(pic) > maxPixels || len(s.order) >= maxImages {
		oldest := slices.IndexFunc(s.order, func(k string) bool { return !s.used[k] })
		if oldest < 0 {
			if len(s.refused) >= maxRefused {
				clear(s.refused)
			}
			s.refused[key] = true
			return
		}
		s.pixels -= area(s.images[s.order[oldest]])
		delete(s.images, s.order[oldest])
		s.order = slices.Delete(s.order, oldest, oldest+1)
	}
	s.images[key], s.used[key] = pic, true
	s.order = append(s.order, key)
	s.pixels += area(pic)
}

// Get is an image; false: it is not there. One that could not be read, or had no room, has no pixels.
func (s *Store) Get(key string) (*image.NRGBA, bool) {
	if s.refused[key] {
		return &image.NRGBA{}, true
	}
	pic, ok := s.images[key]
	if ok {
		s.used[key] = true
	}
	return pic, ok
}

func area(pic *image.NRGBA) int { return pic.Rect.Dx() * pic.Rect.Dy() }

// Decode is an image of a PNG; of what cannot be read or is too large, one without pixels. A large one takes tenths of a
// second.
func Decode(b []byte) *image.NRGBA {
	pic, err := decode(b)
	if err != nil {
		return &image.NRGBA{}
	}
	return pic
}

func decode(b []byte) (*image.NRGBA, error) {
	c, err := png.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	if c.Width < 1 || c.Height < 1 || c.Height > maxImage/c.Width {
		return nil, errTooLarge
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	if pic, ok := img.(*image.NRGBA); ok {
		return pic, nil
	}
	pic := image.NewNRGBA(image.Rect(0, 0, c.Width, c.Height))
	draw.Draw(pic, pic.Rect, img, img.Bounds().Min, draw.Src)
	return pic, nil
}
