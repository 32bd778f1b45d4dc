package anim

import (
	"fmt"
	"image"
	"image/draw"
	"time"

	"github.com/longterm-dev/longterm/render/pixel"
)

// MaxPixels limits the size of an animation, in pixels.
const MaxPixels = pixel.MaxPixels / 4

// encoder writes the changed parts of successive frames.
type encoder interface {
	// frame writes a part of a frame that is shown from start to end.
	frame(img *image.RGBA, start, end time.Duration) error
	// close ends the file.
	close() error
}

// pixels is a Writer that draws shots as pixels.
type pixels struct {
	painter   *pixel.Painter
	encoder   encoder
	now, next *image.RGBA // the current frame, and one to draw on
	// pending is the changed part of the newest frame, whose end is not known yet.
	pending *image.RGBA
	start   time.Duration
}

func newPixels(cols, rows int, o pixel.Options, make func(size image.Point) encoder) (*pixels, error) {
	p, err := pixel.NewPainter(cols, rows, o)
	if err != nil {
		return nil, err
	}
	size := p.Size()
	if size.X*size.Y > MaxPixels || size.X > 0xffff || size.Y > 0xffff {
		return nil, fmt.Errorf("video: too large (%d×%d pixels, limit %d million): use a smaller scale", size.X, size.Y, MaxPixels>>20)
	}
	r := image.Rectangle{Max: size}
	return &pixels{painter: p, encoder: make(size), now: image.NewRGBA(r), next: image.NewRGBA(r)}, nil
}

// Add draws a shot.
func (p *pixels) Add(s Shot) error {
	p.painter.SetTheme(s.Theme)
	p.painter.DrawOn(p.next, s.Screen)
	area := p.next.Bounds()
	if p.pending != nil {
		area = changedArea(p.now, p.next)
		if area.Empty() {
			return nil
		}
		if err := p.encoder.frame(p.pending, p.start, s.At); err != nil {
			return err
		}
		p.start = s.At
	}
	part := image.NewRGBA(area)
	draw.Draw(part, area, p.next, area.Min, draw.Src)
	p.pending = part
	p.now, p.next = p.next, p.now
	return nil
}

// Close writes the last frame.
func (p *pixels) Close(end time.Duration) error {
	if p.pending != nil {
		if err := p.encoder.frame(p.pending, p.start, max(end, p.start)); err != nil {
			return err
		}
	}
	return p.encoder.close()
}

// changedArea returns the smallest area that contains all differences of two pictures of one size.
func changedArea(a, b *image.RGBA) image.Rectangle {
	var out image.Rectangle
	w, h := a.Rect.Dx(), a.Rect.Dy()
	for y := range h {
		from, to := a.Pix[y*a.Stride:y*a.Stride+4*w], b.Pix[y*b.Stride:y*b.Stride+4*w]
		if string(from) == string(to) { // compared without a copy
			continue
		}
		left, right := 0, 4*w
		for from[left] == to[left] {
			left++
		}
		for from[right-1] == to[right-1] {
			right--
		}
		out = out.Union(image.Rect(left/4, y, (right+3)/4, y+1))
	}
	return out
}
