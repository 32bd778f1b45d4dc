package picture

import (
	"bytes"
	"errors"
	"image"
	"image/draw"
	"image/png"
	"slices"
)

// Limits of a Store in pixels and images, and of one image in pixels.
const (
	maxPixels = 1 << 23
	maxImages = 256
	maxImage  = 1 << 22
)

// maxRefused limits the remembered keys of images that did not fit.
const maxRefused = 1 << 12

// Store holds images by key. Beyond its limits it drops the oldest images, but never one in use: if two shown images
// did not fit together, each would evict the other forever. The zero value is empty.
type Store struct {
	images  map[string]*image.NRGBA // nil: undecodable
	order   []string
	pixels  int
	used    map[string]bool // images used since Begin
	refused map[string]bool // keys of images that did not fit
}

// Begin starts a drawing: images that Get returns until the next Begin are in use.
func (s *Store) Begin() {
	if len(s.used) < len(s.images) { // there may be room now
		clear(s.refused)
	}
	clear(s.used)
}

var errTooLarge = errors.New("the image is too large")

// Put stores an image that Decode returned. One that does not fit counts as undecodable.
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

// Get returns an image. It returns false if the image is missing. An image that was unreadable or did not fit has no
// pixels.
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

// Decode returns the image of a PNG, or one without pixels if it is unreadable or too large. A large one takes tenths
// of a second.
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
