package redact

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// Nearly all output contains no secret and consists of plain text lines. findSecrets copies the text with the offset of each
// byte, to detect secrets split by colours, line editors and row ends. isHarmless checks the bytes themselves, in one
// pass per question, and leaves uncertain text to findSecrets.

// isHarmless reports whether findSecrets is known to find nothing in b.
func (s *Set) isHarmless(b []byte) bool {
	return !hasEditing(b) && bytes.IndexByte(b, '\\') < 0 && (!s.masksTokens || !mayHaveToken(b, span{0, len(b)})) && (len(s.byTag) == 0 || !s.mayHaveValue(b))
}

// mayHaveSecret reports whether a displayed line may have a secret in the columns that changed.
func (s *Set) mayHaveSecret(line []byte, others span) bool {
	if bytes.IndexByte(line, '\\') >= 0 || s.masksTokens && mayHaveToken(line, others) {
		return true
	}
	for i := max(0, others.from-s.maxLen+1); i < others.to && i+MinValue <= len(line); i++ {
		tag := s.key.mixTag(firstBytes(line[i : i+MinValue]))
		if !s.hasTag(tag) {
			continue
		}
		for _, f := range s.byTag[tag] {
			if end := i + f.Len; end > others.from && end <= len(line) && bytes.Equal(s.key.hash(line[i:end]), f.Sum) {
				return true
			}
		}
	}
	return false
}

// hasEditing reports whether b may display other text than its bytes: see nonTextLen and isEdited.
func hasEditing(b []byte) bool {
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
			if r < 0xa0 || isZeroWidth(r) || !utf8.FullRune(b[i:]) {
				return true
			}
			i += n - 1
		}
	}
	return false
}

// prefixBits has a bit for the first two bytes of each token format.
var prefixBits = func() (t [1 << 13]byte) {
	for i := range tokenFormats {
		p := tokenFormats[i].prefix
		k := uint16(p[0])<<8 | uint16(p[1])
		t[k>>3] |= 1 << (k & 7)
	}
	return t
}()

// mayHaveToken reports whether b has a token that overlaps a range.
func mayHaveToken(b []byte, some span) bool {
	var ends runEnds
	for i := 1; i < len(b); i++ {
		k := uint16(b[i-1])<<8 | uint16(b[i])
		if prefixBits[k>>3]&(1<<(k&7)) == 0 {
			continue
		}
		for _, f := range formatsByFirstByte[b[i-1]] {
			if from, to := f.match(b, i-1, &ends); to > from && to >= some.from && i-2 <= some.to {
				return true
			}
		}
	}
	return false
}

// mayHaveValue reports whether b contains a value, ignoring line ends.
func (s *Set) mayHaveValue(b []byte) bool {
	var newest uint64 // the last MinValue bytes, as in Key.tag
	n := 0
	for i := 0; i < len(b); {
		line := b[i:]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end]
		}
		if end := bytes.IndexByte(line, '\r'); end >= 0 {
			line = line[:end]
		}
		for j, c := range line[:min(len(line), MinValue-1)] { // continues the line before
			newest = newest>>8 | uint64(c)<<(8*(MinValue-1))
			if n++; n < MinValue {
				continue
			}
			if tag := s.key.mixTag(newest); s.hasTag(tag) && s.completesValue(tag, b[:i+j+1], b[i+j+1:]) {
				return true
			}
		}
		for j := MinValue; j <= len(line); j++ {
			newest = firstBytes(line[j-MinValue : j])
			if tag := s.key.mixTag(newest); s.hasTag(tag) && s.completesValue(tag, b[:i+j], b[i+j:]) {
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
func (s *Set) hasTag(tag uint16) bool { return s.tagBits[tag>>3]&(1<<(tag&7)) != 0 }

// firstBytes returns a value's first MinValue bytes for Key.mixTag, by two overlapping loads.
func firstBytes(first []byte) uint64 {
	return uint64(binary.LittleEndian.Uint32(first)) | uint64(binary.LittleEndian.Uint32(first[MinValue-4:]))<<(8*(MinValue-4))
}

// completesValue reports whether the last MinValue bytes of before and the start of after form a value with a tag.
func (s *Set) completesValue(tag uint16, before, after []byte) bool {
	text := tailWithoutLineEnds(before, MinValue)
	for _, f := range s.byTag[tag] {
		for len(text) < f.Len && len(after) > 0 {
			if c := after[0]; c != '\r' && c != '\n' {
				text = append(text, c)
			}
			after = after[1:]
		}
		if len(text) >= f.Len && bytes.Equal(s.key.hash(text[:f.Len]), f.Sum) {
			return true
		}
	}
	return false
}

// tailWithoutLineEnds returns the last n bytes of b, or fewer, without line ends.
func tailWithoutLineEnds(b []byte, n int) []byte {
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
