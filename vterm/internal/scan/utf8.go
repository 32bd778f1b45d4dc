package scan

import "unicode/utf8"

// Rune decodes a whole, well-formed sequence of two to four bytes; its length is 0
// when there is none at the start of p. Overlong forms and surrogates are found by value.
func Rune(p []byte) (rune, int) {
	c := p[0]
	switch {
	case c < 0xe0:
		if len(p) >= 2 && c >= 0xc2 && p[1]&0xc0 == 0x80 {
			return rune(c&0x1f)<<6 | rune(p[1]&0x3f), 2
		}
	case c < 0xf0:
		if len(p) >= 3 && p[1]&0xc0 == 0x80 && p[2]&0xc0 == 0x80 {
			r := rune(c&0x0f)<<12 | rune(p[1]&0x3f)<<6 | rune(p[2]&0x3f)
			if r >= 0x800 && (r < 0xd800 || r > 0xdfff) {
				return r, 3
			}
		}
	case len(p) >= 4 && p[1]&0xc0 == 0x80 && p[2]&0xc0 == 0x80 && p[3]&0xc0 == 0x80:
		r := rune(c&0x07)<<18 | rune(p[1]&0x3f)<<12 | rune(p[2]&0x3f)<<6 | rune(p[3]&0x3f)
		if c <= 0xf4 && r >= 0x10000 && r <= utf8.MaxRune {
			return r, 4
		}
	}
	return 0, 0
}

// Decoder keeps a sequence that was begun. Its zero value has none.
type Decoder struct {
	partial [4]byte
	partLen int
}

// Next takes one character, bytes kept from the last call included. The rune is -1
// when p ended inside a sequence; a malformed one is U+FFFD for its longest prefix that
// could have been right (Unicode 17, §3.9, U+FFFD substitution of maximal subparts).
func (d *Decoder) Next(p []byte) (rune, int) {
	if d.partLen == 0 {
		if r, n := utf8.DecodeRune(p); r != utf8.RuneError || n == 3 {
			return r, n
		}
	}
	for i, c := range p {
		if d.partLen == 0 && (c < 0xc2 || c > 0xf4) {
			return utf8.RuneError, i + 1
		}
		if d.partLen > 0 && !continues(d.partial[:d.partLen], c) {
			d.partLen = 0
			return utf8.RuneError, i
		}
		d.partial[d.partLen] = c
		d.partLen++
		if b := d.partial[:d.partLen]; utf8.FullRune(b) {
			d.partLen = 0
			r, _ := utf8.DecodeRune(b)
			return r, i + 1
		}
	}
	return -1, len(p)
}

// continues reports whether c can follow what was read of a sequence (Unicode 17,
// table 3-7).
func continues(begun []byte, c byte) bool {
	lo, hi := byte(0x80), byte(0xbf)
	if len(begun) == 1 {
		switch begun[0] {
		case 0xe0:
			lo = 0xa0
		case 0xed:
			hi = 0x9f
		case 0xf0:
			lo = 0x90
		case 0xf4:
			hi = 0x8f
		}
	}
	return lo <= c && c <= hi
}

// begunUTF8 reports whether b is a sequence that more bytes could complete.
func begunUTF8(b []byte) bool {
	for i, c := range b {
		if i == 0 && (c < 0xc2 || c > 0xf4) || i > 0 && !continues(b[:i], c) {
			return false
		}
	}
	return len(b) == 0 || len(b) < 2 && b[0] >= 0xc2 || len(b) < 3 && b[0] >= 0xe0 || len(b) < 4 && b[0] >= 0xf0
}

// Begun is what was read of a sequence.
func (d *Decoder) Begun() []byte { return d.partial[:d.partLen] }

// Restore begins with what was read of a sequence; false if it is none that more bytes
// could complete.
func (d *Decoder) Restore(begun []byte) bool {
	if len(begun) > 3 || !begunUTF8(begun) {
		return false
	}
	d.partLen = copy(d.partial[:], begun)
	return true
}

// Pending reports whether a sequence was begun.
func (d *Decoder) Pending() bool { return d.partLen > 0 }
