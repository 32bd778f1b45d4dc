package bytescan

import "unicode/utf8"

// Rune decodes a whole, well-formed sequence of two to four bytes; its length is 0 if p starts with none. Overlong
// forms and surrogates are found by value.
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

// Decoder decodes UTF-8 across writes. It holds an incomplete sequence; its zero value is empty.
type Decoder struct {
	partial [4]byte
	partLen int
}

// Next decodes one character, with bytes kept from the last call. The rune is -1 if p ended inside a sequence. A
// malformed sequence yields U+FFFD for its longest valid prefix (Unicode 17, §3.9, U+FFFD substitution of maximal
// subparts).
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

// continues reports whether c can follow the bytes of an incomplete sequence (Unicode 17, table 3-7).
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

// isIncomplete reports whether b is an incomplete sequence.
func isIncomplete(b []byte) bool {
	for i, c := range b {
		if i == 0 && (c < 0xc2 || c > 0xf4) || i > 0 && !continues(b[:i], c) {
			return false
		}
	}
	return len(b) == 0 || len(b) < 2 && b[0] >= 0xc2 || len(b) < 3 && b[0] >= 0xe0 || len(b) < 4 && b[0] >= 0xf0
}

// Partial returns the bytes of the incomplete sequence.
func (d *Decoder) Partial() []byte { return d.partial[:d.partLen] }

// Restore sets the incomplete sequence. It returns false if no further bytes could complete it.
func (d *Decoder) Restore(begun []byte) bool {
	if len(begun) > 3 || !isIncomplete(begun) {
		return false
	}
	d.partLen = copy(d.partial[:], begun)
	return true
}

// Pending reports whether a sequence is incomplete.
func (d *Decoder) Pending() bool { return d.partLen > 0 }
