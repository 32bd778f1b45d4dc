// Package boxdraw draws the characters that must join with those in neighbouring cells: box drawing (U+2500–257F),
// block elements (U+2580–259F), Braille patterns (U+2800–28FF), sextants and eighths of Symbols for Legacy Computing
// (U+1FB00…), and the signs and separators of Powerline (U+E0A0–E0A2, U+E0B0…); and two signs of the viewer that fonts lack. Fonts draw these
// for their own line height; here they fill a cell of any size, so that no seam shows.
//
// Edges are on whole units: a picture whose cells are whole pixels has no blurred line.
package boxdraw

import (
	"math"
	"strconv"
)

// Op is the operation of a path segment.
type Op byte

// Segment kinds, named as in SVG paths: M and L use the first point, C uses three.
const (
	MoveTo  Op = 'M'
	LineTo  Op = 'L'
	CubicTo Op = 'C'
	Close   Op = 'Z'
)

// Segment is a segment of a path. (0, 0) is the cell's upper left corner.
type Segment struct {
	Op Op
	P  [6]float32
}

// Shape is a character as an area to fill by the non-zero rule.
type Shape struct {
	Path []Segment
	// Alpha is the opacity of the area, up to 255; shades are not opaque.
	Alpha uint8
}

// Has reports whether a character is drawn here.
func Has(r rune) bool {
	switch {
	case r >= 0x2500 && r <= 0x259f, r >= 0x2800 && r <= 0x28ff, r >= branch && r <= padlock, r >= 0xe0b0 && r <= 0xe0bf:
		return true
	case r == pause, r == twoSquares:
		return true
	case r >= 0x1fb00 && r <= 0x1fb3b, r >= 0x1fb70 && r <= 0x1fb7b, r >= 0x1fb82 && r <= 0x1fb8b:
		return true
	}
	return false
}

// Draw returns the shape of a character in a cell of this size. A light line is thin units wide.
func Draw(r rune, width, height, thin float32) (Shape, bool) {
	if !Has(r) {
		return Shape{}, false
	}
	c := canvas{w: width, h: height, thin: max(1, round(thin)), alpha: 255}
	switch {
	case r == pause, r == twoSquares, r >= branch && r <= padlock:
		c.sign(r)
	case r >= 0x2800 && r <= 0x28ff:
		c.braille(int(r - 0x2800))
	case r >= 0x2580 && r <= 0x259f:
		c.block(r)
	case r >= 0xe000 && r <= 0xf8ff:
		c.powerline(r)
	case r >= 0x1fb00:
		c.legacy(r)
	default:
		c.box(r)
	}
	return Shape{c.path, c.alpha}, true
}

// canvas is a shape under construction.
type canvas struct {
	w, h, thin float32
	path       []Segment
	alpha      uint8
}

func round(x float32) float32 { return float32(math.Round(float64(x))) }

func (c *canvas) move(x, y float32) {
	c.path = append(c.path, Segment{MoveTo, [6]float32{x, y}})
}

func (c *canvas) line(x, y float32) {
	c.path = append(c.path, Segment{LineTo, [6]float32{x, y}})
}

func (c *canvas) cubic(x1, y1, x2, y2, x, y float32) {
	c.path = append(c.path, Segment{CubicTo, [6]float32{x1, y1, x2, y2, x, y}})
}

func (c *canvas) close() { c.path = append(c.path, Segment{Op: Close}) }

// rect fills between two corners.
func (c *canvas) rect(x1, y1, x2, y2 float32) {
	if x2 > x1 && y2 > y1 {
		c.polygon(x1, y1, x2, y1, x2, y2, x1, y2)
	}
}

// part fills a rectangle given in fractions of the cell, with its edges on whole units, at least one apart.
func (c *canvas) part(x1, y1, x2, y2 float32) {
	x1, x2 = whole(x1, x2, c.w)
	y1, y2 = whole(y1, y2, c.h)
	c.rect(x1, y1, x2, y2)
}

func whole(from, to, size float32) (a, b float32) {
	a = max(0, min(round(from*size), size-1))
	return a, max(round(to*size), a+1)
}

// polygon fills a polygon with clockwise corners: overlapping areas must have the same orientation.
func (c *canvas) polygon(xy ...float32) {
	c.move(xy[0], xy[1])
	for i := 2; i+1 < len(xy); i += 2 {
		c.line(xy[i], xy[i+1])
	}
	c.close()
}

// Decorate returns a line along n cells: the underlines single, double, curly, dotted and dashed, strike and overline.
// base is the text's baseline.
func Decorate(kind string, n int, width, height, thin, base float32) Shape {
	c := canvas{w: width, h: height, thin: max(1, round(thin)), alpha: 255}
	t, end := c.thin, width*float32(n)
	y := min(base+max(1, round(height/12)), height-t)
	switch kind {
	case "double":
		y = min(y, height-3*t)
		c.rect(0, y, end, y+t)
		c.rect(0, y+2*t, end, y+3*t)
	case "curly":
		for i := range n {
			c.wave(float32(i)*width, min(y+t/2, height-1.5*t), t)
		}
	case "dotted":
		for x := float32(0); x+t <= end; x += 2 * t {
			c.rect(x, y, x+t, y+t)
		}
	case "dashed":
		for i := range n {
			x := float32(i) * width
			c.rect(x, y, x+round(width*0.6), y+t)
		}
	case "strike":
		y = round(base - height*0.26)
		c.rect(0, y, end, y+t)
	case "overline":
		c.rect(0, 0, end, t)
	default:
		c.rect(0, y, end, y+t)
	}
	return Shape{c.path, c.alpha}
}

// wave draws one period of a wavy line, one cell wide.
func (c *canvas) wave(x, y, t float32) {
	half := c.w / 2
	top := max(t, c.h/20) / 0.75 // of the control points, for the crest's height
	bend := func(from, y, to, rise float32) {
		d := (to - from) * 0.3642
		c.cubic(from+d, y-rise, to-d, y-rise, to, y)
	}
	c.move(x, y-t/2)
	bend(x, y-t/2, x+half, top)
	bend(x+half, y-t/2, x+c.w, -top)
	c.line(x+c.w, y+t/2)
	bend(x+c.w, y+t/2, x+half, -top)
	bend(x+half, y+t/2, x, top)
	c.close()
}

// AppendSVG appends the shape as SVG path data, moved by x and y.
func (s *Shape) AppendSVG(dst []byte, x, y float32) []byte {
	at := [2]float32{x, y}
	for _, seg := range s.Path {
		dst = append(dst, byte(seg.Op))
		n := 0
		switch seg.Op {
		case MoveTo, LineTo:
			n = 2
		case CubicTo:
			n = 6
		}
		for i := range n {
			if i > 0 {
				dst = append(dst, ' ')
			}
			dst = strconv.AppendFloat(dst, math.Round(float64(seg.P[i]+at[i%2])*100)/100, 'f', -1, 64)
		}
	}
	return dst
}
