package render

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/render/termimage"
	"github.com/longterm-dev/longterm/vterm"
)

// Blocks renders images as half blocks, two colours per cell, for clients that draw only text. It must not be used
// concurrently. The zero value is ready.
type Blocks struct {
	// Images makes lines also list the images behind the blocks, for clients that may be able to draw them.
	Images bool

	images termimage.Thumbnails
	keys   termimage.Keys
}

// Show replaces the images of a screen and its history by blocks. It changes only spans; lines without images, and the
// text, are unchanged. Images that are not scaled before ctx ends get no blocks; the newest are scaled first.
func (b *Blocks) Show(ctx context.Context, s *Screen) {
	for _, lines := range [][]Line{s.Lines, s.Scrollback} {
		for i := range slices.Backward(lines) {
			if hasImages(&lines[i]) {
				b.line(ctx, &lines[i])
			}
		}
	}
}

// HasImages reports whether the screen or its history shows an image.
func (s *Screen) HasImages() bool {
	for _, lines := range [][]Line{s.Lines, s.Scrollback} {
		for i := range lines {
			if hasImages(&lines[i]) {
				return true
			}
		}
	}
	return false
}

func hasImages(l *Line) bool {
	return slices.ContainsFunc(l.Spans, func(s Span) bool { return s.Image != nil })
}

func (b *Blocks) line(ctx context.Context, l *Line) {
	out := make([]Span, 0, len(l.Spans)+16)
	for i := range l.Spans {
		s := &l.Spans[i]
		var pic *image.NRGBA
		if im := s.Image; im != nil {
			pic = b.images.Scaled(ctx, im.Image, int(math.Round(im.Cols)), int(math.Round(2*im.Rows)))
		}
		if pic == nil && (s.Image == nil || ctx.Err() == nil) {
			out = append(out, *s)
			continue
		}
		if b.Images {
			l.Pictures = append(l.Pictures, s.picture(b.keys.Key))
		}
		if pic == nil {
			out = append(out, *s)
			continue
		}
		first := len(out)
		for n := range s.Width {
			c := block(pic, s.Image.X+n, 2*s.Image.Y, s)
			if last := len(out) - 1; last >= first && out[last].FG == c.FG && out[last].BG == c.BG && strings.HasSuffix(out[last].Text, c.Text) {
				out[last].Text, out[last].Width = out[last].Text+c.Text, out[last].Width+1
				continue
			}
			c.Col = s.Col + n
			out = append(out, c)
		}
	}
	l.Spans = out
}

// picture returns the part of an image that a span shows. key returns an image's key.
func (s *Span) picture(key func(*vterm.Image) string) Picture {
	im := s.Image
	return Picture{Key: key(im.Image), Col: s.Col, Width: s.Width, X: im.X, Y: im.Y, Cols: im.Cols, Rows: im.Rows}
}

// ListPictures adds to each line the images that it shows, and the places of images no longer stored. key returns an
// image's key.
func ListPictures(lines []Line, key func(*vterm.Image) string) {
	for i := range lines {
		l := &lines[i]
		for j := range l.Spans {
			switch s := &l.Spans[j]; {
			case s.Image != nil:
				l.Pictures = append(l.Pictures, s.picture(key))
			case s.Lost:
				l.Pictures = append(l.Pictures, Picture{Col: s.Col, Width: s.Width, Cols: float64(s.Width), Rows: 1})
			}
		}
	}
}

// block returns a cell with a pixel as upper half and the one below as lower half. Transparent pixels show the span's
// background.
func block(pic *image.NRGBA, x, y int, s *Span) Span {
	c := Span{Text: " ", Width: 1, BG: s.BG, BGIndex: s.BGIndex}
	upper, lower := pic.NRGBAAt(x, y), pic.NRGBAAt(x, y+1)
	switch {
	case opaque(upper) && opaque(lower):
		c.Text, c.FG, c.BG, c.BGIndex = "▀", hexOf(upper), hexOf(lower), nil
	case opaque(upper):
		c.Text, c.FG = "▀", hexOf(upper)
	case opaque(lower):
		c.Text, c.FG = "▄", hexOf(lower)
	}
	return c
}

func opaque(c color.NRGBA) bool { return c.A >= 0x80 }

func hexOf(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
