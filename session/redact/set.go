package redact

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// SettleTime is the age at which output is given to a caller that must not see secrets, and is matched for waits of such a
// caller. A program may print a secret in parts: at that age the rest has arrived, and the whole is masked. The delay is equal
// for all output: one that depends on the text would confirm guesses.
const SettleTime = 100 * time.Millisecond

// Bounds of the context that decides the masking of a byte.
const (
	// ContextBytes is the length of the context before and after a byte.
	ContextBytes = maxPEM + 4<<10
	// maxEscape is the longest text that is treated as an escape sequence, in bytes.
	maxEscape = 64
)

// Set is an immutable set of secrets to mask.
type Set struct {
	key         Key
	masksTokens bool
	tagBits     [1 << 13]byte // tags of values, one bit each
	byTag       map[uint16][]fingerprint
	maxLen      int                                    // length of the longest value, in bytes
	cleanHashes [256]atomic.Pointer[[sha256.Size]byte] // hashes of the last texts without secrets
}

// Empty reports whether nothing can be found.
func (s *Set) Empty() bool { return s == nil || !s.masksTokens && len(s.byTag) == 0 }

// text is output prepared for the search, without bytes that may occur within a secret.
type text struct {
	data      []byte // without escape sequences and line editors' wraps
	offsets   []int  // offset of each byte in the input
	flat      []byte // data without line ends
	flatIndex []int  // index in data of each byte of flat

	// For an unescaped text:
	outer *text // the outer text that offsets and ends refer to
	ends  []int

	// For a displayed line:
	edited *editedLine // nil: not a displayed line
	cells  []int       // the cell of each byte of data
}

// distance returns the distance of two positions of data in the output.
func (t *text) distance(from, to int) int {
	switch {
	case t.outer != nil:
		return t.outer.distance(t.offsets[from], t.ends[to]-1)
	case t.edited != nil: // bounded by maxEdited
		return 0
	}
	return t.offsets[to] - t.offsets[from]
}

// maxSpread bounds the distance of a secret's bytes: every read then sees its beginning.
const maxSpread = maxPEM + 2<<10

// textPool reuses texts: each byte of output needs sixteen bytes of them.
var textPool = sync.Pool{New: func() any { return new(text) }}

// newText prepares output; strip drops non-text, flat fills the fields without line ends.
func newText(b []byte, strip, flat bool) *text {
	t := textPool.Get().(*text)
	t.data, t.offsets = slices.Grow(t.data[:0], len(b))[:len(b)], slices.Grow(t.offsets[:0], len(b))[:len(b)]
	k := 0
	for i := 0; i < len(b); {
		if c := b[i]; strip && startsNonText[c] {
			if n := nonTextLen(b[i:]); n > 0 {
				i += n
				continue
			}
		}
		t.data[k], t.offsets[k] = b[i], i
		i, k = i+1, k+1
	}
	t.data, t.offsets, t.flat, t.flatIndex = t.data[:k], t.offsets[:k], t.flat[:0], t.flatIndex[:0]
	if !flat {
		return t
	}
	t.flat, t.flatIndex = slices.Grow(t.flat, k), slices.Grow(t.flatIndex, k)
	for i, c := range t.data {
		if c != '\r' && c != '\n' {
			t.flat, t.flatIndex = append(t.flat, c), append(t.flatIndex, i)
		}
	}
	return t
}

// startsNonText marks the bytes that non-text may start with.
var startsNonText = [256]bool{' ': true, 0x1b: true, '\b': true, 0: true}

// nonTextLen returns the length of the non-text at the start of b: an escape sequence, or the output of a line editor that
// continues in the next row. An incomplete one at the end counts too.
func nonTextLen(b []byte) int {
	switch {
	case len(b) == 1 && (b[0] == ' ' || b[0] == 0x1b):
		return 1
	case len(b) > 1 && b[0] == ' ' && b[1] == '\r':
		if len(b) > 2 && b[2] == '\n' { // a blank at the end of a line
			return 0
		}
		return 2
	case b[0] == '\b' || b[0] == 0:
		return 1
	case b[0] != 0x1b || len(b) < 2:
		return 0
	case b[1] != '[':
		if b[1] >= '0' && b[1] <= '~' && b[1] != ']' && b[1] != 'P' && b[1] != 'X' && b[1] != '^' && b[1] != '_' {
			return 2
		}
		return 0
	}
	for i := 2; i < min(len(b), maxEscape); i++ {
		if b[i] >= 0x40 && b[i] <= 0x7e {
			return i + 1
		}
		if b[i] < 0x20 {
			return 0
		}
	}
	if len(b) < maxEscape {
		return len(b)
	}
	return 0
}

// span is a range of bytes.
type span struct{ from, to int }

// findSecrets calls found with each secret in b; base is the offset of b in the output.
func (s *Set) findSecrets(b []byte, base uint64, found func(pieces []span)) {
	t := newText(b, true, len(s.byTag) > 0)
	defer textPool.Put(t)
	s.findInText(t, found)
	if len(t.data) < len(b) && len(s.byTag) > 0 { // also unstripped: an apparent sequence may belong to a value
		whole := newText(b, false, true)
		s.findValues(whole, found)
		textPool.Put(whole)
	}
	searchEditedLines(b, base, lineSearch{s.mayHaveSecret, func(t *text) { s.findInText(t, found) }})
}

// findValues calls found with each known value in a text.
func (s *Set) findValues(t *text, found func(pieces []span)) {
	if len(s.byTag) == 0 {
		return
	}
	for i := range t.flat {
		if n := s.valueLen(t, i); n > 0 {
			found(outputRanges(t, t.flatIndex[i:i+n]))
		}
	}
}

// findTokens calls found with each token in a text.
func (s *Set) findTokens(t *text, found func(pieces []span)) {
	if !s.masksTokens {
		return
	}
	var ends runEnds
	masked := 0 // end of the last masked token: tokens may start within tokens
	for i, c := range t.data {
		for _, f := range formatsByFirstByte[c] {
			from, to := f.match(t.data, i, &ends)
			for to > from && t.distance(from, to-1) > maxSpread {
				to--
			}
			if from = max(from, masked); to > from {
				found(tokenRanges(t, from, to))
				masked = to
			}
		}
	}
}

// valueLen returns the length of the longest value at flat[i], or 0.
func (s *Set) valueLen(t *text, i int) (n int) {
	rest := t.flat[i:]
	if len(rest) < MinValue {
		return 0
	}
	tag := s.key.tag(rest)
	if !s.hasTag(tag) {
		return 0
	}
	for k := range s.byTag[tag] {
		f := &s.byTag[tag][k]
		if f.Len > n && f.Len <= len(rest) && t.distance(t.flatIndex[i], t.flatIndex[i+f.Len-1]) < maxSpread && bytes.Equal(s.key.hash(rest[:f.Len]), f.Sum) {
			n = f.Len
		}
	}
	return n
}

// outputRanges returns the output ranges of a value's bytes, given as positions in data.
func outputRanges(t *text, places []int) (all []span) {
	if t.outer != nil {
		var outer []int
		for _, p := range places {
			for q := t.offsets[p]; q < t.ends[p]; q++ {
				if n := len(outer); n == 0 || outer[n-1] < q {
					outer = append(outer, q)
				}
			}
		}
		return outputRanges(t.outer, outer)
	}
	if t.edited != nil {
		return t.edited.overwrittenRanges(t, places)
	}
	for _, p := range places {
		all = appendOffset(all, t.offsets[p])
	}
	return all
}

// tokenRanges returns the output ranges of token data[from:to]; line ends and blanks within it are not masked.
func tokenRanges(t *text, from, to int) []span {
	var places []int
	for k := from; k < to; k++ {
		if c := t.data[k]; c != '\r' && c != '\n' && c != ' ' {
			places = append(places, k)
		}
	}
	return outputRanges(t, places)
}

// appendOffset adds an offset to ranges.
func appendOffset(all []span, i int) []span {
	if n := len(all); n > 0 && all[n-1].to == i {
		all[n-1].to++
		return all
	}
	return append(all, span{i, i + 1})
}

// Redact masks the secrets in all[begin:end], which has up to ContextBytes bytes of output around it; base is the offset of all
// in the output. It masks only whole secrets, also at the end.
func (s *Set) Redact(all []byte, base uint64, begin, end int) {
	if s.Empty() || begin >= end || s.isHarmless(all) {
		return
	}
	part := all[begin:end]
	var hide []span // all is searched before anything is masked
	s.findSecrets(all, base, func(p []span) { hide = append(hide, p...) })
	for _, p := range hide {
		for i := max(p.from, begin); i < min(p.to, end); i++ {
			part[i-begin] = '*'
		}
	}
}

// RedactText returns a text with its secrets masked, of the same length in bytes.
func (s *Set) RedactText(text string) string {
	if s.Empty() || len(text) < MinValue {
		return text
	}
	sum := sha256.Sum256([]byte(text)) // the same texts repeat often; only their hash is kept
	seen := &s.cleanHashes[sum[0]]
	if last := seen.Load(); last != nil && *last == sum {
		return text
	}
	b := []byte(text)
	s.Redact(b, 0, 0, len(b))
	if string(b) == text {
		seen.Store(&sum)
	}
	return string(b)
}
