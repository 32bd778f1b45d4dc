package redact

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Settle is the age of output at which a caller that is shown no secrets gets it, or a wait of such a caller matches it. A
// program may print a secret in pieces: at that age the rest is there, and the whole is masked. The delay is the same for
// all output: one that depends on the text would confirm guesses.
const Settle = 100 * time.Millisecond

// Bounds of the context that decides a byte's masking.
const (
	// Reach is how far before and after a byte text is looked at.
	Reach = maxPEM + 4<<10
	// maxEscape is the longest text that is treated as an escape sequence, in bytes.
	maxEscape = 64
)

// Set is the secrets that are looked for. It does not change.
type Set struct {
	key     Key
	formats bool
	tags    [1 << 13]byte // of tags, a bit each
	by      map[uint16][]fingerprint
	longest int                                    // value, in bytes
	clean   [256]atomic.Pointer[[sha256.Size]byte] // hashes of texts without secrets that were looked through last
}

// Empty reports whether nothing can be found.
func (s *Set) Empty() bool { return s == nil || !s.formats && len(s.by) == 0 }

// text is what is looked through: output without what may stand within a secret.
type text struct {
	data []byte // without escape sequences and line editors' wraps
	at   []int  // where each byte is in what was given
	flat []byte // data without ends of lines
	from []int  // where each byte of flat is in data

	// Of a text without its escapes:
	within *text // the outer text of at and end
	end    []int

	// Of a line as it reads:
	over   *edited // nil: not an edited line
	stroke []int   // the stroke of each byte of data
}

// distance returns how far two places in data are apart in the output.
func (t *text) distance(from, to int) int {
	switch {
	case t.within != nil:
		return t.within.distance(t.at[from], t.end[to]-1)
	case t.over != nil: // bounded otherwise
		return 0
	}
	return t.at[to] - t.at[from]
}

// farthest is how far the bytes of a secret may lie apart: as far as every reading sees its beginning.
const farthest = maxPEM + 2<<10

// texts are texts to be used again: to each byte of output belong sixteen of them.
var texts = sync.Pool{New: func() any { return new(text) }}

// read makes a text of output; strip drops non-text, flat is made on request.
func read(b []byte, strip, flat bool) *text {
	t := texts.Get().(*text)
	t.data, t.at = slices.Grow(t.data[:0], len(b))[:len(b)], slices.Grow(t.at[:0], len(b))[:len(b)]
	k := 0
	for i := 0; i < len(b); {
		if c := b[i]; strip && mayBeJunk[c] {
			if n := junk(b[i:]); n > 0 {
				i += n
				continue
			}
		}
		t.data[k], t.at[k] = b[i], i
		i, k = i+1, k+1
	}
	t.data, t.at, t.flat, t.from = t.data[:k], t.at[:k], t.flat[:0], t.from[:0]
	if !flat {
		return t
	}
	t.flat, t.from = slices.Grow(t.flat, k), slices.Grow(t.from, k)
	for i, c := range t.data {
		if c != '\r' && c != '\n' {
			t.flat, t.from = append(t.flat, c), append(t.from, i)
		}
	}
	return t
}

// mayBeJunk marks the bytes that junk may start with.
var mayBeJunk = [256]bool{' ': true, 0x1b: true, '\b': true, 0: true}

// junk returns the length of the non-text at the start of b: an escape sequence, or what a line editor prints to
// continue in the next row. An incomplete one at the end counts too.
func junk(b []byte) int {
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

// find calls found with each secret in b; base is the offset of b in the output.
func (s *Set) find(b []byte, base uint64, found func(pieces []span)) {
	t := read(b, true, len(s.by) > 0)
	defer texts.Put(t)
	s.look(t, found)
	if len(t.data) < len(b) && len(s.by) > 0 { // and as it came: what is taken for a sequence may be a part of it
		whole := read(b, false, true)
		s.findValues(whole, found)
		texts.Put(whole)
	}
	editedLines(b, base, looking{s.mayHave, func(t *text) { s.look(t, found) }})
}

func (s *Set) findValues(t *text, found func(pieces []span)) {
	if len(s.by) == 0 {
		return
	}
	for i := range t.flat {
		if n := s.value(t, i); n > 0 {
			found(pieces(t, t.from[i:i+n]))
		}
	}
}

func (s *Set) findTokens(t *text, found func(pieces []span)) {
	if !s.formats {
		return
	}
	var ends runEnds
	masked := 0 // masked so far: tokens may start within tokens
	for i, c := range t.data {
		for _, f := range byFirst[c] {
			from, to := f.at(t.data, i, &ends)
			for to > from && t.distance(from, to-1) > farthest {
				to--
			}
			if from = max(from, masked); to > from {
				found(runs(t, from, to))
				masked = to
			}
		}
	}
}

// value returns the length of the longest value at flat[i], or 0.
func (s *Set) value(t *text, i int) (n int) {
	rest := t.flat[i:]
	if len(rest) < MinValue {
		return 0
	}
	tag := s.key.tag(rest)
	if !s.hasTag(tag) {
		return 0
	}
	for k := range s.by[tag] {
		f := &s.by[tag][k]
		if f.Len > n && f.Len <= len(rest) && t.distance(t.from[i], t.from[i+f.Len-1]) < farthest && bytes.Equal(s.key.sum(rest[:f.Len]), f.Sum) {
			n = f.Len
		}
	}
	return n
}

// pieces returns the output ranges of a value's bytes, given as places in data.
func pieces(t *text, places []int) (all []span) {
	if t.within != nil {
		var outer []int
		for _, p := range places {
			for q := t.at[p]; q < t.end[p]; q++ {
				if n := len(outer); n == 0 || outer[n-1] < q {
					outer = append(outer, q)
				}
			}
		}
		return pieces(t.within, outer)
	}
	if t.over != nil {
		return t.over.under(t, places)
	}
	for _, p := range places {
		all = extend(all, t.at[p])
	}
	return all
}

// runs returns the output ranges of token data[from:to]; line ends and blanks within it stay.
func runs(t *text, from, to int) []span {
	var places []int
	for k := from; k < to; k++ {
		if c := t.data[k]; c != '\r' && c != '\n' && c != ' ' {
			places = append(places, k)
		}
	}
	return pieces(t, places)
}

func extend(all []span, i int) []span {
	if n := len(all); n > 0 && all[n-1].to == i {
		all[n-1].to++
		return all
	}
	return append(all, span{i, i + 1})
}

// Mask masks the secrets in all[begin:end], which has up to Reach bytes of output around it; base is the offset of all
// in the output. It masks only whole secrets, also at the end.
func (s *Set) Mask(all []byte, base uint64, begin, end int) {
	if s.Empty() || begin >= end || s.harmless(all) {
		return
	}
	part := all[begin:end]
	var hide []span // all is looked through first: what is masked is no longer text
	s.find(all, base, func(p []span) { hide = append(hide, p...) })
	for _, p := range hide {
		for i := max(p.from, begin); i < min(p.to, end); i++ {
			part[i-begin] = '*'
		}
	}
}

// Text returns a text with its secrets masked, of the same length in bytes.
func (s *Set) Text(text string) string {
	if s.Empty() || len(text) < MinValue {
		return text
	}
	sum := sha256.Sum256([]byte(text)) // checked texts repeat often; only their hash is kept
	seen := &s.clean[sum[0]]
	if last := seen.Load(); last != nil && *last == sum {
		return text
	}
	b := []byte(text)
	s.Mask(b, 0, 0, len(b))
	if string(b) == text {
		seen.Store(&sum)
	}
	return string(b)
}
