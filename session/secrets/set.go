package secrets

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"sync"
	"sync/atomic"
)

// Bounds of what a byte's masking depends on.
const (
	// Reach is how far before and after a byte text is looked at.
	Reach = maxPEM + 4<<10
	// maxEscape is the length of an escape sequence that is taken for one.
	maxEscape = 64
)

// Set is the secrets that are looked for. It does not change.
type Set struct {
	key     Key
	formats bool
	tags    [1 << 13]byte // of tags, a bit each
	by      map[uint16][]fingerprint
	longest int      // value, in bytes
	starts  []string // how values begin, sorted
	first   [256]bool
	clean   [256]atomic.Pointer[[sha256.Size]byte] // hashes of texts without secrets that were looked through last
}

// Empty says that nothing can be found.
func (s *Set) Empty() bool { return s == nil || !s.formats && len(s.by) == 0 }

// text is what is looked through: output without what may stand within a secret.
type text struct {
	data []byte // escape sequences and wraps of line editors left out
	at   []int  // where each byte is in what was given
	flat []byte // data without ends of lines
	from []int  // where each byte of flat is in data

	// Of a text without its escapes:
	within *text // of which at and end are places
	end    []int

	// Of a line as it reads:
	over   *edited // nil: this is none
	stroke []int   // what stands where each byte of data is
	last   bool    // more may come behind it
}

// first is the earliest byte of what stands from a place in data on.
func (t *text) first(place int) int {
	switch {
	case t.within != nil:
		return t.within.first(t.at[place])
	case t.over != nil:
		return t.over.earliest(t, place)
	}
	return t.at[place]
}

// apart is how far what begins at one place in data and ends at another lies apart.
func (t *text) apart(from, to int) int {
	switch {
	case t.within != nil:
		return t.within.apart(t.at[from], t.end[to]-1)
	case t.over != nil: // bounded otherwise
		return 0
	}
	return t.at[to] - t.at[from]
}

// farthest is how far the bytes of a secret may lie apart: as far as every reading sees its beginning.
const farthest = maxPEM + 2<<10

// texts are texts to be used again: to each byte of output belong sixteen of them.
var texts = sync.Pool{New: func() any { return new(text) }}

// read makes text of output; strip leaves out what is no text, flat is made where it is asked for.
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

// mayBeJunk says what junk may begin with.
var mayBeJunk = [256]bool{' ': true, 0x1b: true, '\b': true, 0: true}

// junk is the length of what b begins with and is no text: an escape sequence of a terminal, or what a line
// editor prints where a line goes on in the next row. At the end what may become that is taken for it: more
// may come.
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

// find calls found with each secret in b, which begins at an offset of the output, and returns from where on
// more is needed to know; len(b) when nothing is open.
func (s *Set) find(b []byte, base uint64, found func(pieces []span)) (open int) {
	open = len(b)
	undecided := func(i int) { open = min(open, i) }
	t := read(b, true, len(s.by) > 0)
	defer texts.Put(t)
	s.look(t, found, undecided)
	if len(t.data) < len(b) && len(s.by) > 0 { // and as it came: what is taken for a sequence may be a part of it
		whole := read(b, false, true)
		s.findValues(whole, found, undecided)
		texts.Put(whole)
	}
	editedLines(b, base, looking{s.mayHave, func(t *text) {
		undecided := undecided
		if !t.last {
			undecided = func(int) {}
		}
		s.look(t, found, undecided)
	}})
	return open
}

func (s *Set) findValues(t *text, found func(pieces []span), undecided func(int)) {
	if len(s.by) == 0 {
		return
	}
	for i := range t.flat {
		n, more := s.value(t, i)
		if n > 0 {
			found(pieces(t, t.from[i:i+n]))
		}
		if more && i+n < len(t.flat) {
			undecided(t.first(t.from[i+n]))
		}
	}
}

func (s *Set) findTokens(t *text, found func(pieces []span), undecided func(int)) {
	if !s.formats {
		return
	}
	var ends runEnds
	masked := 0 // up to here: tokens may begin within tokens
	for i, c := range t.data {
		for _, f := range byFirst[c] {
			from, to, more := f.at(t.data, i, &ends)
			if more < len(t.data) {
				undecided(t.first(more))
			}
			for to > from && t.apart(from, to-1) > farthest {
				to--
			}
			if from = max(from, masked); to > from {
				found(runs(t, from, to))
				masked = to
			}
		}
	}
}

// value is the length of the longest value that begins at flat[i]. more: there may be a longer one, which goes on.
func (s *Set) value(t *text, i int) (n int, more bool) {
	rest := t.flat[i:]
	if len(rest) < MinValue {
		if s.first[rest[0]] {
			for _, start := range s.starts {
				if k := min(len(rest), len(start)); string(rest[:k]) == start[:k] {
					return 0, true
				}
			}
		}
		return 0, false
	}
	tag := s.key.tag(rest)
	if s.tags[tag>>3]&(1<<(tag&7)) == 0 {
		return 0, false
	}
	for k := range s.by[tag] {
		f := &s.by[tag][k]
		switch {
		case f.Len <= n:
		case f.Len > len(rest):
			more = more || s.key.mayGoOn(f, rest)
		case t.apart(t.from[i], t.from[i+f.Len-1]) < farthest && bytes.Equal(s.key.sum(rest[:f.Len]), f.Sum):
			n = f.Len
		}
	}
	return n, more
}

// pieces are where bytes of a value stand, given as places in data.
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

// runs are where bytes of a token stand, which is data[from:to]; ends of lines and blanks within it stay.
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

// Mask masks the secrets in all[begin:end], which has up to Reach bytes of output before and after it, and
// begins at the offset base of the output. It returns how many bytes of the part can be handed out: where more is to come (live), what may become a
// secret is told with what comes next. The last Reach bytes of all may have to wait, no more.
func (s *Set) Mask(all []byte, base uint64, begin, end int, live bool) (n int) {
	if s.Empty() || begin >= end {
		return end - begin
	}
	if s.harmlessBefore(all, end) {
		return end - begin
	}
	part := all[begin:end]
	var hide []span // all is looked through first: what is masked is no text any more
	open := s.find(all, base, func(p []span) { hide = append(hide, p...) })
	for _, p := range hide {
		for i := max(p.from, begin); i < min(p.to, end); i++ {
			part[i-begin] = '*'
		}
	}
	if open = max(open, len(all)-Reach); live && open < end {
		return max(open, begin) - begin
	}
	return end - begin
}

// Text is a text with its secrets masked; it keeps its length in bytes.
func (s *Set) Text(text string) string {
	if s.Empty() || len(text) < MinValue {
		return text
	}
	sum := sha256.Sum256([]byte(text)) // words that are judged come again and again, and are not kept as they are
	seen := &s.clean[sum[0]]
	if last := seen.Load(); last != nil && *last == sum {
		return text
	}
	b := []byte(text)
	s.Mask(b, 0, 0, len(b), false)
	if string(b) == text {
		seen.Store(&sum)
	}
	return string(b)
}
