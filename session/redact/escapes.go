package redact

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// Programs print text within text: JSON may write letters as \u00e9, slashes as \/ and line ends as \n, depending on
// the writer; shells and languages quote likewise. Enumerating all written forms is impossible, but reading them is
// possible. So a text with backslashes is also checked in its unescaped form, and the escapes of a secret's bytes are
// masked whole.

const (
	// maxLevels is how often a text may be quoted: JSON within JSON.
	maxLevels = 2
	// maxBackslashes bounds a meaningful run of backslashes, so that every read knows whether the first one is the
	// second half of a pair.
	maxBackslashes = 64
)

// look finds values and tokens in a text, and in its unescaped form.
func (s *Set) look(t *text, found func(pieces []span)) {
	s.findValues(t, found)
	s.findTokens(t, found)
	levels := []*text{t}
	for len(levels) <= maxLevels && bytes.IndexByte(levels[len(levels)-1].data, '\\') >= 0 {
		t := unescape(levels[len(levels)-1])
		s.findValues(t, found)
		s.findTokens(t, found)
		levels = append(levels, t)
	}
	for _, t := range levels[1:] {
		t.within = nil
		texts.Put(t)
	}
}

// unescape returns a text with its escapes decoded, up to one that is not whole.
func unescape(outer *text) *text {
	t := texts.Get().(*text)
	*t = text{within: outer, data: t.data[:0], at: t.at[:0], end: t.end[:0], flat: t.flat[:0], from: t.from[:0]}
	b := outer.data
	for i := 0; i < len(b); {
		if b[i] != '\\' {
			t.add(b[i:i+1], i, i+1)
			i++
			continue
		}
		last := i
		for last+1 < len(b) && b[last+1] == '\\' {
			last++
		}
		if last-i >= maxBackslashes {
			for ; i <= last; i++ {
				t.add(b[i:i+1], i, i+1)
			}
			continue
		}
		for ; i < last; i += 2 {
			t.add(b[i:i+1], i, i+2)
		}
		if i > last {
			continue
		}
		var room [utf8.UTFMax]byte
		says, n := escape(room[:0], b[i:])
		if n == 0 { // the escape continues
			break
		}
		t.add(says, i, i+n)
		i += n
	}
	return t
}

// add appends bytes for a range of the outer text.
func (t *text) add(says []byte, from, to int) {
	for _, c := range says {
		if c != '\r' && c != '\n' {
			t.flat, t.from = append(t.flat, c), append(t.from, len(t.data))
		}
		t.data, t.at, t.end = append(t.data, c), append(t.at, from), append(t.end, to)
	}
}

// oneLetter are escapes of one letter.
var oneLetter = [256]byte{'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'f': '\f', 'a': 7, 'v': '\v', 'e': 0x1b, 'E': 0x1b}

// escape returns the meaning of the escape at the start of b and its length; a lone backslash means itself. n is 0 if b
// ends within it.
func escape(room, b []byte) (says []byte, n int) {
	if len(b) < 2 {
		return nil, 0
	}
	switch c := b[1]; {
	case oneLetter[c] != 0:
		return append(room, oneLetter[c]), 2
	case c == 'u':
		return unicodeEscape(room, b)
	case c == 'U':
		if r, n := number(b[2:], 8, 16); n == 8 && r <= utf8.MaxRune {
			return utf8.AppendRune(room, rune(r)), 10
		} else if n == len(b)-2 {
			return nil, 0
		}
	case c == 'x':
		if r, n := number(b[2:], 2, 16); n == 2 {
			return append(room, byte(r)), 4
		} else if n == len(b)-2 {
			return nil, 0
		}
	case c >= '0' && c <= '7':
		if r, n := number(b[1:], 3, 8); n == 3 && r < 256 {
			return append(room, byte(r)), 4
		} else if n == len(b)-1 && n < 3 {
			return nil, 0
		}
	case c >= ' ' && c < 0x7f && !letters[c]:
		return append(room, c), 2
	}
	return append(room, '\\'), 1
}

// unicodeEscape parses \u with four digits, or a surrogate pair of them.
func unicodeEscape(room, b []byte) (says []byte, n int) {
	r, n := number(b[2:], 4, 16)
	switch {
	case n == 4 && !utf16.IsSurrogate(rune(r)):
		return utf8.AppendRune(room, rune(r)), 6
	case n == 4:
		rest := b[6:]
		if k := min(len(rest), 2); string(rest[:k]) == `\u`[:k] {
			second, n := uint32(0), 0
			if k == 2 {
				second, n = number(rest[2:], 4, 16)
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

// number reads up to most digits and returns their number.
func number(b []byte, most int, base uint32) (value uint32, n int) {
	for n < min(most, len(b)) {
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
