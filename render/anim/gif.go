package anim

import (
	"bytes"
	"compress/lzw"
	"encoding/binary"
	"image"
	"io"
	"math/bits"
	"time"

	"github.com/longterm-dev/longterm/render/pixel"
)

// NewGIF writes an animated GIF (GIF89a): each picture as large as the changed area, with its own palette of up to 256
// colours.
func NewGIF(w io.Writer, cols, rows int, o pixel.Options) (Writer, error) {
	return newPixels(cols, rows, o, func(size image.Point) encoder { return &gif{w: w, size: size} })
}

// gif writes GIF blocks one by one: package image/gif would need all pictures in memory at once.
type gif struct {
	w     io.Writer
	size  image.Point
	begun bool  // the header was written
	ticks int64 // duration of the frames so far, in hundredths of a second
}

func (g *gif) frame(img *image.RGBA, _, end time.Duration) error {
	var out []byte
	if !g.begun {
		g.begun = true
		out = g.appendHeader(out)
	}
	delay := min(max(int64((end+5*time.Millisecond)/(10*time.Millisecond))-g.ticks, 2), 0xffff)
	g.ticks += delay
	out = append(out, 0x21, 0xf9, 4, 1<<2) // the picture stays
	out = binary.LittleEndian.AppendUint16(out, uint16(delay))
	out, err := appendImage(append(out, 0, 0), img)
	if err != nil {
		return err
	}
	_, err = g.w.Write(out)
	return err
}

func (g *gif) appendHeader(out []byte) []byte {
	out = append(out, "GIF89a"...)
	out = binary.LittleEndian.AppendUint16(out, uint16(g.size.X))
	out = binary.LittleEndian.AppendUint16(out, uint16(g.size.Y))
	out = append(out, 0x70, 0, 0)                                        // no colours for all
	return append(out, "\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"...) // for ever
}

// appendImage appends a picture with its colours.
func appendImage(out []byte, img *image.RGBA) ([]byte, error) {
	palette, indexes := quantize(img)
	size := max(bits.Len(uint(len(palette)-1)), 1) // bits of an index
	out = append(out, 0x2c)
	r := img.Bounds()
	for _, n := range [...]int{r.Min.X, r.Min.Y, r.Dx(), r.Dy()} {
		out = binary.LittleEndian.AppendUint16(out, uint16(n))
	}
	out = append(out, 0x80|byte(size-1))
	for i := range 1 << size {
		var c uint32
		if i < len(palette) {
			c = palette[i]
		}
		out = append(out, byte(c>>16), byte(c>>8), byte(c))
	}
	width := max(size, 2)
	out = append(out, byte(width))
	var packed bytes.Buffer
	z := lzw.NewWriter(&packed, lzw.LSB, width)
	if _, err := z.Write(indexes); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	for packed.Len() > 0 {
		block := packed.Next(255)
		out = append(append(out, byte(len(block))), block...)
	}
	return append(out, 0), nil
}

func (g *gif) close() error {
	_, err := g.w.Write([]byte{0x3b})
	return err
}
