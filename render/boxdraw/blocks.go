package boxdraw

// quadrants of U+2596–259F: 1 upper left, 2 upper right, 4 lower left, 8 lower right.
var quadrants = [10]byte{4, 8, 1, 1 | 4 | 8, 1 | 8, 1 | 2 | 4, 1 | 2 | 8, 2, 2 | 4, 2 | 4 | 8}

func (c *canvas) block(r rune) {
	switch {
	case r == 0x2580:
		c.part(0, 0, 1, 0.5)
	case r <= 0x2588:
		c.part(0, 1-float32(r-0x2580)/8, 1, 1)
	case r <= 0x258f:
		c.part(0, 0, float32(0x2590-r)/8, 1)
	case r == 0x2590:
		c.part(0.5, 0, 1, 1)
	case r <= 0x2593:
		c.alpha = uint8(64 * (r - 0x2590))
		c.part(0, 0, 1, 1)
	case r == 0x2594:
		c.part(0, 0, 1, 1.0/8)
	case r == 0x2595:
		c.part(7.0/8, 0, 1, 1)
	default:
		c.mosaic(int(quadrants[r-0x2596]), 2)
	}
}

// mosaic fills the fields, two per row, whose bits are set. Bit 0 is the upper left one.
func (c *canvas) mosaic(bits, rows int) {
	for i := range 2 * rows {
		if bits&(1<<i) != 0 {
			x, y := float32(i%2)/2, float32(i/2)
			n := float32(rows)
			c.part(x, y/n, x+0.5, (y+1)/n)
		}
	}
}

// legacy draws sextants and eighths of Symbols for Legacy Computing.
func (c *canvas) legacy(r rune) {
	n := float32(r & 0xf)
	switch {
	case r <= 0x1fb3b: // sextants; the block skips those that block elements have
		bits := int(r-0x1fb00) + 1
		if bits >= 0x15 {
			bits++
		}
		if bits >= 0x2a {
			bits++
		}
		c.mosaic(bits, 3)
	case r <= 0x1fb75: // vertical eighths 2 to 7
		c.part((n+1)/8, 0, (n+2)/8, 1)
	case r <= 0x1fb7b: // horizontal eighths 2 to 7
		c.part(0, (n-5)/8, 1, (n-4)/8)
	case r <= 0x1fb86: // upper blocks of 2, 3, 5, 6, 7 eighths
		c.part(0, 0, 1, legacyEighths[r-0x1fb82]/8)
	default: // right blocks of the same
		c.part(1-legacyEighths[r-0x1fb87]/8, 0, 1, 1)
	}
}

var legacyEighths = [5]float32{2, 3, 5, 6, 7}

// brailleDots are the positions of dots 1 to 8: column and row.
var brailleDots = [8][2]float32{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {0, 3}, {1, 3}}

func (c *canvas) braille(bits int) {
	size := max(1, round(min(c.w/4, c.h/8)))
	for i, at := range brailleDots {
		if bits&(1<<i) != 0 {
			x, y := round((at[0]+0.5)*c.w/2-size/2), round((at[1]+0.5)*c.h/4-size/2)
			c.rect(x, y, x+size, y+size)
		}
	}
}

// Symbols that the viewer and Powerline prompts show, and that fonts lack.
const (
	pause      = 0x23f8
	twoSquares = 0x29c9
	branch     = 0xe0a0
	lineNumber = 0xe0a1
	padlock    = 0xe0a2
)

func (c *canvas) sign(r rune) {
	w, h, t := c.w, c.h, c.thin
	switch r {
	case pause:
		c.part(0.2, 0.3, 0.4, 0.75)
		c.part(0.6, 0.3, 0.8, 0.75)
	case twoSquares:
		c.outline(0.05, 0.45, 0.6, 0.8)
		c.outline(0.35, 0.25, 0.9, 0.6)
	case branch: // a stem, and a twig that joins it
		left, right := round(w*0.2), round(w*0.75)
		c.rect(left, round(h*0.15), left+t, round(h*0.85))
		c.rect(right, round(h*0.3), right+t, round(h*0.45))
		c.polygon(right, h*0.45, right+t, h*0.45, left+t, h*0.66, left+t, h*0.6)
		c.polygon(right+t/2, h*0.18, right+t/2+w*0.2, h*0.32, right+t/2-w*0.2, h*0.32)
	case lineNumber: // L above N
		c.rect(round(w*0.1), round(h*0.1), round(w*0.1)+t, round(h*0.45))
		c.rect(round(w*0.1), round(h*0.45)-t, round(w*0.5), round(h*0.45))
		left, right, top, bottom := round(w*0.45), round(w*0.9)-t, round(h*0.52), round(h*0.87)
		c.rect(left, top, left+t, bottom)
		c.rect(right, top, right+t, bottom)
		c.polygon(left, top, left+t, top, right+t, bottom, right, bottom)
	case padlock:
		c.part(0.12, 0.47, 0.88, 0.82)
		c.outline(0.25, 0.22, 0.75, 0.55)
	}
}

// outline draws the edge of a part of the cell.
func (c *canvas) outline(x1, y1, x2, y2 float32) {
	x1, x2 = whole(x1, x2, c.w)
	y1, y2 = whole(y1, y2, c.h)
	t := c.thin
	c.rect(x1, y1, x2, y1+t)
	c.rect(x1, y2-t, x2, y2)
	c.rect(x1, y1+t, x1+t, y2-t)
	c.rect(x2-t, y1+t, x2, y2-t)
}

// powerline draws the separators of Powerline and its successors.
func (c *canvas) powerline(r rune) {
	w, h := c.w, c.h
	switch r {
	case 0xe0b0:
		c.polygon(0, 0, w, h/2, 0, h)
	case 0xe0b2:
		c.polygon(w, 0, w, h, 0, h/2)
	case 0xe0b1:
		c.stroke(0, 0, w-c.thin, h/2)
		c.stroke(w-c.thin, h/2, 0, h)
	case 0xe0b3:
		c.stroke(w-c.thin, 0, 0, h/2)
		c.stroke(0, h/2, w-c.thin, h)
	case 0xe0b4, 0xe0b5, 0xe0b6, 0xe0b7:
		c.halfCircle(r >= 0xe0b6, r&1 != 0)
	case 0xe0b8:
		c.polygon(0, 0, w, h, 0, h)
	case 0xe0ba:
		c.polygon(w, 0, w, h, 0, h)
	case 0xe0bc:
		c.polygon(0, 0, w, 0, 0, h)
	case 0xe0be:
		c.polygon(0, 0, w, 0, w, h)
	case 0xe0b9, 0xe0bf:
		c.stroke(0, 0, w-c.thin, h)
	default:
		c.stroke(w-c.thin, 0, 0, h)
	}
}

// stroke draws a slanting line from an upper to a lower point, thin units wide.
func (c *canvas) stroke(x1, y1, x2, y2 float32) {
	c.polygon(x1, y1, x1+c.thin, y1, x2+c.thin, y2, x2, y2)
}

// halfCircle draws half of an ellipse on the cell's edge, filled or as an outline.
func (c *canvas) halfCircle(left, rim bool) {
	const k = 0.5523
	at := func(x float32) float32 {
		if left {
			return c.w - x
		}
		return x
	}
	w, h := c.w, c.h
	c.move(at(0), 0)
	c.cubic(at(k*w), 0, at(w), h/2-k*h/2, at(w), h/2)
	c.cubic(at(w), h/2+k*h/2, at(k*w), h, at(0), h)
	if rim {
		t := c.thin
		w, r := w-t, h/2-t
		c.line(at(0), h-t)
		c.cubic(at(k*w), h-t, at(w), h/2+k*r, at(w), h/2)
		c.cubic(at(w), h/2-k*r, at(k*w), t, at(0), t)
	}
	c.close()
}
