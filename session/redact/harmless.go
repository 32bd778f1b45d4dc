package redact

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// Nearly all output contains no secret and consists of plain text lines. find copies the text with the place of each
// byte, to detect secrets split by colours, line editors and row ends. harmless checks the bytes themselves, in one
// pass per question, and leaves uncertain text to find.

// harmless reports whether find is known to find nothing in b.
func (s *Set) harmless(b []byte) bool {
	return !readsOtherwise(b) && bytes.IndexByte(b, '\\') < 0 && (!s.formats || !mayHaveToken(b, span{0, len(b)})) && (len(s.by) == 0 || !s.mayHaveValue(b))
}

// mayHave reports whether a line as it reads may have a secret that it did not have before some of its bytes changed.
func (s *Set) mayHave(line []byte, others span) bool {
	if bytes.IndexByte(line, '\\') >= 0 || s.formats && mayHaveToken(line, others) {
		return true
	}
	for i := max(0, others.from-s.longest+1); i < others.to && i+MinValue <= len(line); i++ {
		tag := s.key.mix(begunBy(line[i : i+MinValue]))
		if !s.hasTag(tag) {
			continue
		}
		for _, f := range s.by[tag] {
			if end := i + f.Len; end > others.from && end <= len(line) && bytes.Equal(s.key.sum(line[i:end]), f.Sum) {
				return true
			}
		}
	}
	return false
}

// readsOtherwise reports whether b may display other text than its byte sequence: see junk and isEdited.
func readsOtherwise(b []byte) bool {
	for i := 0; i < len(b); i++ {
		i += plaintext.Printable(b[i:])
		blank := i > 0 && b[i-1] == ' '
		if i == len(b) {
			return false
		}
		switch c := b[i]; {
		case c == '\n', c == '\t':
		case c == '\r':
			if i+1 < len(b) && b[i+1] != '\n' && b[i+1] != '\r' || blank && (i+1 == len(b) || b[i+1] != '\n') {
				return true
			}
		case c < utf8.RuneSelf:
			return true
		default:
			r, n := utf8.DecodeRune(b[i:])
			if r < 0xa0 || hasNoWidth(r) || !utf8.FullRune(b[i:]) {
				return true
			}
			i += n - 1
		}
	}
	return false
}

// beginnings has a bit for the first two bytes of each token form.
var beginnings = func() (t [1 << 13]byte) {
	for i := range formats {
		p := formats[i].prefix
		k := uint16(p[0])<<8 | uint16(p[1])
		t[k>>3] |= 1 << (k & 7)
	}
	return t
}()

// mayHaveToken reports whether b has a token with some of its bytes in a range.
func mayHaveToken(b []byte, some span) bool {
	var ends runEnds
	for i := 1; i < len(b); i++ {
		k := uint16(b[i-1])<<8 | uint16(b[i])
		if beginnings[k>>3]&(1<<(k&7)) == 0 {
			continue
		}
		for _, f := range byFirst[b[i-1]] {
			if from, to := f.at(b, i-1, &ends); to > from && to >= some.from && i-2 <= some.to {
				return true
			}
		}
	}
	return false
}

// mayHaveValue reports whether b has a value in it, ignoring ends of lines.
func (s *Set) mayHaveValue(b []byte) bool {
	var newest uint64 // the last MinValue bytes, as Key.tag takes them
	n := 0
	for i := 0; i < len(b); {
		line := b[i:]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end]
		}
		if end := bytes.IndexByte(line, '\r'); end >= 0 {
			line = line[:end]
		}
		for j, c := range line[:min(len(line), MinValue-1)] { // it continues the text before
			newest = newest>>8 | uint64(c)<<(8*(MinValue-1))
			if n++; n < MinValue {
				continue
			}
			if tag := s.key.mix(newest); s.hasTag(tag) && s.mayBe(tag, b[:i+j+1], b[i+j+1:]) {
				return true
			}
		}
		for j := MinValue; j <= len(line); j++ {
			newest = begunBy(line[j-MinValue : j])
			if tag := s.key.mix(newest); s.hasTag(tag) && s.mayBe(tag, b[:i+j], b[i+j:]) {
				return true
			}
			n++
		}
		for i += len(line); i < len(b) && (b[i] == '\r' || b[i] == '\n'); i++ {
		}
	}
	return false
}

// hasTag reports whether a value has the tag.
func (s *Set) hasTag(tag uint16) bool { return s.tags[tag>>3]&(1<<(tag&7)) != 0 }

// begunBy returns a value's first MinValue bytes for Key.mix: two overlapping loads.
func begunBy(first []byte) uint64 {
	return uint64(binary.LittleEndian.Uint32(first)) | uint64(binary.LittleEndian.Uint32(first[MinValue-4:]))<<(8*(MinValue-4))
}

// mayBe reports whether the last MinValue bytes of before and those of after are a value with a tag.
func (s *Set) mayBe(tag uint16, before, after []byte) bool {
	text := flatTail(before, MinValue)
	for _, f := range s.by[tag] {
		for len(text) < f.Len && len(after) > 0 {
			if c := after[0]; c != '\r' && c != '\n' {
				text = append(text, c)
			}
			after = after[1:]
		}
		if len(text) >= f.Len && bytes.Equal(s.key.sum(text[:f.Len]), f.Sum) {
			return true
		}
	}
	return false
}

// flatTail returns the last n bytes of b, or fewer, without ends of lines.
func flatTail(b []byte, n int) []byte {
	from := len(b)
	for ; from > 0 && n > 0; from-- {
		if c := b[from-1]; c != '\r' && c != '\n' {
			n--
		}
	}
	flat := make([]byte, 0, len(b)-from)
	for _, c := range b[from:] {
		if c != '\r' && c != '\n' {
			flat = append(flat, c)
		}
	}
	return flat
}
