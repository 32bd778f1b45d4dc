package redact

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// Programs print text within text: JSON may write letters as \u00e9, slashes as \/ and line ends as \n, depending on
// the writer; shells and languages quote likewise. Enumerating all written forms is impossible, but decoding them is
// possible. So a text with backslashes is also searched in its unescaped form, and the escapes of a secret's bytes are
// masked whole.

const (
	// maxLevels bounds the levels of quoting: JSON within JSON.
	maxLevels = 2
	// maxBackslashes bounds a meaningful run of backslashes, so that every read knows whether the first one is the
	// second half of a pair.
	maxBackslashes = 64
)

// findInText finds values and tokens in a text, and in its unescaped forms.
func (s *Set) findInText(t *text, found func(pieces []span)) {
	s.findValues(t, found)
	s.findTokens(t, found)
	levels := []*text{t}
	for len(levels) <= maxLevels && bytes.IndexByte(levels[len(levels)-1].data, '\\') >= 0 {
		t := unescapeText(levels[len(levels)-1])
		s.findValues(t, found)
		s.findTokens(t, found)
		levels = append(levels, t)
	}
	for _, t := range levels[1:] {
		t.outer = nil
		textPool.Put(t)
	}
}

// unescapeText returns a text with its escapes decoded, up to an incomplete one.
func unescapeText(outer *text) *text {
	t := textPool.Get().(*text)
	*t = text{outer: outer, data: t.data[:0], offsets: t.offsets[:0], ends: t.ends[:0], flat: t.flat[:0], flatIndex: t.flatIndex[:0]}
	b := outer.data
	for i := 0; i < len(b); {
		if b[i] != '\\' {
			t.appendDecoded(b[i:i+1], i, i+1)
			i++
			continue
		}
		last := i
		for last+1 < len(b) && b[last+1] == '\\' {
			last++
		}
		if last-i >= maxBackslashes {
			for ; i <= last; i++ {
				t.appendDecoded(b[i:i+1], i, i+1)
			}
			continue
		}
		for ; i < last; i += 2 {
			t.appendDecoded(b[i:i+1], i, i+2)
		}
		if i > last {
			continue
		}
		var room [utf8.UTFMax]byte
		decoded, n := decodeEscape(room[:0], b[i:])
		if n == 0 { // the escape continues
			break
		}
		t.appendDecoded(decoded, i, i+n)
		i += n
	}
	return t
}

// appendDecoded appends decoded bytes for a range of the outer text.
func (t *text) appendDecoded(decoded []byte, from, to int) {
	for _, c := range decoded {
		if c != '\r' && c != '\n' {
			t.flat, t.flatIndex = append(t.flat, c), append(t.flatIndex, len(t.data))
		}
		t.data, t.offsets, t.ends = append(t.data, c), append(t.offsets, from), append(t.ends, to)
	}
}

// letterEscapes maps the letters of escapes to their bytes.
var letterEscapes = [256]byte{'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'f': '\f', 'a': 7, 'v': '\v', 'e': 0x1b, 'E': 0x1b}

// decodeEscape decodes the escape at the start of b and returns its length; a lone backslash means itself. n is 0 if b ends
// within it.
func decodeEscape(room, b []byte) (decoded []byte, n int) {
	if len(b) < 2 {
		return nil, 0
	}
	switch c := b[1]; {
	case letterEscapes[c] != 0:
		return append(room, letterEscapes[c]), 2
	case c == 'u':
		return decodeUnicodeEscape(room, b)
	case c == 'U':
		if r, n := parseDigits(b[2:], 8, 16); n == 8 && r <= utf8.MaxRune {
			return utf8.AppendRune(room, rune(r)), 10
		} else if n == len(b)-2 {
			return nil, 0
		}
	case c == 'x':
		if r, n := parseDigits(b[2:], 2, 16); n == 2 {
			return append(room, byte(r)), 4
		} else if n == len(b)-2 {
			return nil, 0
		}
	case c >= '0' && c <= '7':
		if r, n := parseDigits(b[1:], 3, 8); n == 3 && r < 256 {
			return append(room, byte(r)), 4
		} else if n == len(b)-1 && n < 3 {
			return nil, 0
		}
	case c >= ' ' && c < 0x7f && !alnumBytes[c]:
		return append(room, c), 2
	}
	return append(room, '\\'), 1
}

// decodeUnicodeEscape decodes \u with four digits, or a surrogate pair of them.
func decodeUnicodeEscape(room, b []byte) (decoded []byte, n int) {
	r, n := parseDigits(b[2:], 4, 16)
	switch {
	case n == 4 && !utf16.IsSurrogate(rune(r)):
		return utf8.AppendRune(room, rune(r)), 6
	case n == 4:
		rest := b[6:]
		if k := min(len(rest), 2); string(rest[:k]) == `\u`[:k] {
			second, n := uint32(0), 0
			if k == 2 {
				second, n = parseDigits(rest[2:], 4, 16)
			}
			if n < 4 && n == max(len(rest)-2, 0) {
				return nil, 0
			}
			if whole := utf16.DecodeRune(rune(r), rune(second)); n == 4 && whole != utf8.RuneError {
				return utf8.AppendRune(room, whole), 12
			}
		}
	case n == len(b)-2:
		return nil, 0
	}
	return append(room, '\\'), 1
}

// parseDigits parses up to maxDigits digits and returns the value and the number of digits.
func parseDigits(b []byte, maxDigits int, base uint32) (value uint32, n int) {
	for n < min(maxDigits, len(b)) {
		c, digit := b[n]|0x20, uint32(99)
		switch {
		case b[n] >= '0' && b[n] <= '9':
			digit = uint32(b[n] - '0')
		case c >= 'a' && c <= 'f':
			digit = uint32(c-'a') + 10
		}
		if digit >= base {
			break
		}
		value = value*base + digit
		n++
	}
	return value, n
}
