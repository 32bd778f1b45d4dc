package anim

import (
	"fmt"
	"image"
	"image/draw"
	"runtime"
	"sync/atomic"
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

// maxPainters limits the shots that are drawn at a time: each needs a frame.
const maxPainters = 4

// pixels is a Writer that draws shots as pixels. Several painters draw shots at a time, and one goroutine encodes the
// frames in the order of their times.
type pixels struct {
	painters chan *pixel.Painter // idle painters
	frames   chan *image.RGBA    // unused frames
	queue    chan drawing        // to the encoding goroutine, which ends when it is closed
	ended    chan struct{}       // closed when the encoding goroutine has ended
	failure  atomic.Pointer[error]

	// The encoding goroutine owns what follows, and Close after its end.
	encoder encoder
	now     *image.RGBA // the newest frame
	// pending is the changed part of the newest frame, whose end is not known yet.
	pending *image.RGBA
	start   time.Duration
}

// drawing is a shot that is being drawn.
type drawing struct {
	at    time.Duration
	frame chan *image.RGBA // receives the frame once
}

func newPixels(cols, rows int, o pixel.Options, open func(size image.Point) encoder) (*pixels, error) {
	n := min(runtime.GOMAXPROCS(0), maxPainters)
	p := &pixels{painters: make(chan *pixel.Painter, n), frames: make(chan *image.RGBA, n+2), queue: make(chan drawing, n), ended: make(chan struct{})}
	var size image.Point
	for range n {
		painter, err := pixel.NewPainter(cols, rows, o)
		if err != nil {
			return nil, err
		}
		size = painter.Size()
		p.painters <- painter
	}
	if size.X*size.Y > MaxPixels || size.X > 0xffff || size.Y > 0xffff {
		return nil, fmt.Errorf("video: too large (%d×%d pixels, limit %d million): use a smaller scale", size.X, size.Y, MaxPixels>>20)
	}
	for range cap(p.frames) {
		p.frames <- image.NewRGBA(image.Rectangle{Max: size})
	}
	p.encoder = open(size)
	go p.encode()
	return p, nil
}

// Add starts drawing a shot. It returns the error of an earlier one.
func (p *pixels) Add(s Shot) error {
	if err := p.failure.Load(); err != nil {
		return *err
	}
	painter, frame := <-p.painters, <-p.frames
	d := drawing{s.At, make(chan *image.RGBA, 1)}
	go func() {
		painter.SetTheme(s.Theme)
		painter.DrawOn(frame, s.Screen)
		p.painters <- painter
		d.frame <- frame
	}()
	p.queue <- d
	return nil
}

// encode encodes frames until the queue is closed. After an error it only empties the queue.
func (p *pixels) encode() {
	defer close(p.ended)
	for d := range p.queue {
		frame := <-d.frame
		if p.failure.Load() == nil {
			var err error
			if frame, err = p.take(frame, d.at); err != nil {
				p.failure.Store(&err)
			}
		}
		if frame != nil {
			p.frames <- frame
		}
	}
}

// take encodes the part of a frame that changed. It returns a frame that is free again.
func (p *pixels) take(frame *image.RGBA, at time.Duration) (unused *image.RGBA, err error) {
	area := frame.Bounds()
	if p.pending != nil {
		area = changedArea(p.now, frame)
		if area.Empty() {
			return frame, nil
		}
		if err := p.encoder.frame(p.pending, p.start, at); err != nil {
			return frame, err
		}
		p.start = at
	}
	part := image.NewRGBA(area)
	draw.Draw(part, area, frame, area.Min, draw.Src)
	p.pending = part
	unused, p.now = p.now, frame
	return unused, nil
}

// Close writes the last frame.
func (p *pixels) Close(end time.Duration) error {
	close(p.queue)
	<-p.ended
	if err := p.failure.Load(); err != nil {
		return *err
	}
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
