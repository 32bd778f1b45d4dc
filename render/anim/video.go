package anim

import (
	"image"
	"image/draw"
	"io"
	"time"

	"github.com/longterm-dev/longterm/render/pixel"
)

// NewVideo writes whole pictures at a constant rate to the writer that open returns for their size. A picture has 4
// bytes per pixel (red, green, blue, alpha), row by row: the input of video encoders.
func NewVideo(cols, rows int, fps float64, o pixel.Options, open func(size image.Point) (io.WriteCloser, error)) (Writer, error) {
	v := &video{fps: fps}
	p, err := newPixels(cols, rows, o, func(size image.Point) encoder {
		v.canvas = image.NewRGBA(image.Rectangle{Max: size})
		return v
	})
	if err != nil {
		return nil, err
	}
	if v.w, err = open(v.canvas.Rect.Max); err != nil {
		close(p.queue)
		return nil, err
	}
	return p, nil
}

type video struct {
	w      io.WriteCloser
	fps    float64
	canvas *image.RGBA
	shown  int64 // number of frames so far
}

func (v *video) frame(img *image.RGBA, _, end time.Duration) error {
	draw.Draw(v.canvas, img.Bounds(), img, img.Bounds().Min, draw.Src)
	until := max(int64(end.Seconds()*v.fps+0.5), v.shown+1)
	for ; v.shown < until; v.shown++ {
		if _, err := v.w.Write(v.canvas.Pix); err != nil {
			return err
		}
	}
	return nil
}

func (v *video) close() error { return v.w.Close() }
