package picture

import (
	"bytes"
	"errors"
	"image"
	"image/draw"
	"image/png"
)

// Bounds of what a Store keeps, in pixels and images, and of one image in pixels.
const (
	maxPixels = 1 << 23
	maxImages = 256
	maxImage  = 1 << 22
)

// Store has images by their keys. What is too much is forgotten, the oldest first. The zero value is empty.
type Store struct {
	images map[string]*image.NRGBA // nil: it is none
	order  []string
	pixels int
}

var errTooLarge = errors.New("the image is too large")

// Put takes an image as PNG. What cannot be read is known as no image.
func (s *Store) Put(key string, b []byte) {
	if _, known := s.images[key]; known {
		return
	}
	pic, err := decode(b)
	if err != nil {
		pic = &image.NRGBA{}
	}
	if s.images == nil {
		s.images = map[string]*image.NRGBA{}
	}
	s.images[key] = pic
	s.order = append(s.order, key)
	s.pixels += area(pic)
	for len(s.order) > 1 && (s.pixels > maxPixels || len(s.order) > maxImages) {
		s.pixels -= area(s.images[s.order[0]])
		delete(s.images, s.order[0])
		s.order = s.order[1:]
	}
}

// Get is an image; false: it is not there. One that could not be read has no pixels.
func (s *Store) Get(key string) (*image.NRGBA, bool) {
	pic, ok := s.images[key]
	return pic, ok
}

func area(pic *image.NRGBA) int { return pic.Rect.Dx() * pic.Rect.Dy() }

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
