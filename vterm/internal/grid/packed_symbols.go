package grid

import (
	"encoding/binary"
	"math/bits"

	"github.com/longterm-dev/longterm/vterm/internal/scan"
	"github.com/longterm-dev/longterm/vterm/internal/width"
)

// symbols remembers what symbols between Han and ASCII come to in the text of a packed row: programs repeat a few emoji
// over and over, and to look one up is cheaper than to find out where each of its clusters ends and how wide it is.
//
// What it holds was put in by mixture.chars, so it cannot know better.
type symbols struct {
	slots [64]symbol
	met   [64]uint16 // of what hashes of those slots came last and was not known
}

// symbol is one or more clusters of less than symbolBytes. The zero value stands for none: it has no columns.
type symbol struct {
	key        symbolKey
	text       [3]uint64 // as it stands in a packed row
	size, cols int       // bytes of the text, columns
	tail       tail
}

// symbolKey is the bytes as they were printed, padded with zeros.
type symbolKey struct{ a, b uint64 }

// symbolBytes is how many bytes are looked at, symbolText how many a symbol's text can have.
const symbolBytes, symbolText = 16, 24

// tail is what is to be known of the end of a run:
//
//	bits  0–7  how far before the end the last character begins
//	bits  8–15 the state behind it
type tail uint64

// keyOf makes the key of what stands at the start of p before a character that joinsNothing, and returns its length,
// symbolBytes when that is not near.
func keyOf(p *[symbolBytes]byte) (symbolKey, int) {
	a, b := binary.LittleEndian.Uint64(p[:]), binary.LittleEndian.Uint64(p[8:])
	n, m := symbolEnd(a, b)
	return symbolKey{firstOf(a, n), firstOf(b, m)}, n + m
}

// symbolEnd is how many bytes of a, and of b when it is all of a, stand before a character that joinsNothing.
func symbolEnd(a, b uint64) (n, m int) {
	n = bits.TrailingZeros64(joinNothing(a)) / 8
	return n, bits.TrailingZeros64(joinNothing(b)) / 8 & -(n / 8)
}

// firstOf is the first n bytes of w.
func firstOf(w uint64, n int) uint64 { return w & (1<<(8*n) - 1) }

// joinNothing marks in their high bit those of 8 bytes that joinsNothing is true of.
func joinNothing(w uint64) uint64 {
	low := w & (0x7f * scan.LowBits) // adding to one of these does not reach the next
	return (^w | (low+(0x100-firstHan)*scan.LowBits)&^(low+(0xff-lastHan)*scan.LowBits)) & (0x80 * scan.LowBits)
}

// twoMarked are the two characters of three bytes that v begins with as they stand in text, if they are wide.
func twoMarked(v uint64) uint64 {
	return v&0xffffff<<8 | v&0xffffff000000<<16 | markWide | markWide<<32
}

// of is where a symbol stands if it is known.
func (s *symbols) of(key symbolKey) *symbol {
	return &s.slots[key.hash()>>58]
}

func (key symbolKey) hash() uint64 {
	return (key.a ^ bits.RotateLeft64(key.b, 29)) * 0x9e3779b97f4a7c15
}

// noSymbols is what a terminal remembers that saw none yet.
var noSymbols symbols

// symbolTable finds symbols, and knows how often it does.
type symbolTable struct {
	known  *symbols // nil before the first
	misses int      // more than hits
}

// After so many misses only each sampleEvery-th run is looked at.
const (
	manyMisses  = 64
	sampleEvery = 64
)

// Pack takes less memory, for when nothing is going to happen for a while.
func (tb *Tables) Pack() { tb.symbols = symbolTable{} }

// seldom reports whether symbols hardly come again, so that to take a run character by character is less than to look them up.
func (s *symbolTable) seldom() bool {
	if s.misses <= manyMisses {
		return false
	}
	if s.misses++; s.misses < manyMisses+sampleEvery {
		return true
	}
	s.misses = manyMisses
	return false
}

// missed notes that a symbol was not known and reports whether it came before: what never comes again costs little.
func (s *symbolTable) missed(key symbolKey) (again bool) {
	s.misses = max(s.misses, -manyMisses) + 1
	if s.known == nil {
		s.known = new(symbols)
	}
	h := key.hash()
	at, tag := &s.known.met[h>>58], uint16(h>>42)
	again = *at == tag
	*at = tag
	return again
}

// begins reports whether the first character joins none before it, whatever Han or ASCII that is.
func (key symbolKey) begins() bool {
	r, _ := runeOf(uint32(key.a))
	props := width.Of(r)
	return props.Starter() || props.Regional()
}

// learn remembers what a symbol came to that chars just took, at out[k:], in so many columns.
func (s *symbolTable) learn(key symbolKey, m *mixture, k, cols int) {
	if m.last < k || m.k-k > symbolText || len(m.out)-k < symbolText || !key.begins() {
		return
	}
	t := m.out[k : k+symbolText]
	e := s.known.of(key)
	e.key, e.size, e.cols = key, m.k-k, cols
	e.tail = tail(m.k-m.last) | tail(m.state)<<8
	for i := range e.text {
		e.text[i] = binary.LittleEndian.Uint64(t[8*i:])
	}
}

// run takes what it can of p from taken on.
func (m *mixture) run(s *symbolTable, p []byte) {
	for m.odd == 0 && m.graphemes {
		if s.seldom() || m.state != stateUnknown && !width.Ends(m.state) {
			break
		}
		if !m.known(s, p) {
			return
		}
		if len(p)-m.taken < symbolBytes {
			break
		}
		key, n := keyOf((*[symbolBytes]byte)(p[m.taken:]))
		stop, k, cols := m.taken+max(n, 1), m.k, m.cols
		again := s.missed(key)
		if !m.chars(p, stop) {
			return
		}
		if again && n < symbolBytes && m.taken == stop {
			s.learn(key, m, k, cols-m.cols)
		}
	}
	m.chars(p, len(p))
}

// known takes Han and the like, ASCII and known symbols, as long as they follow each other: nothing joins there. It
// returns false when there is no more to be taken.
func (m *mixture) known(s *symbolTable, p []byte) (more bool) {
	const han = tail(4) | tail(stateUnknown)<<8
	const ascii = tail(1) | tail(width.Plain)<<8
	known := s.known
	if known == nil {
		known = &noSymbols
	}
	out, rest, cols := m.out[m.k:], p[m.taken:], m.cols
	var end tail
	for len(rest) >= symbolBytes && len(out) >= symbolText+packedSlack && cols > 0 {
		v := binary.LittleEndian.Uint64(rest)
		if wideOf3(v) {
			if cols < 2 {
				break
			}
			if cols >= 4 && wideOf3(v>>24) {
				binary.LittleEndian.PutUint64(out, twoMarked(v))
				rest, out, cols, end = rest[6:], out[8:], cols-4, han
				continue
			}
			binary.LittleEndian.PutUint32(out, uint32(v)<<8|markWide)
			rest, out, cols, end = rest[3:], out[4:], cols-2, han
			continue
		}
		if v&0x80 == 0 {
			i := min(bits.TrailingZeros64(scan.NotPrintable(v))/8, cols)
			if i == 0 {
				break
			}
			binary.LittleEndian.PutUint64(out, v)
			rest, out, cols, end = rest[i:], out[i:], cols-i, ascii
			continue
		}
		w := binary.LittleEndian.Uint64(rest[8:])
		n, i := symbolEnd(v, w)
		key := symbolKey{firstOf(v, n), firstOf(w, i)}
		e := known.of(key)
		if more = e.key != key || uint(e.cols-1) >= uint(cols); more { // a slot without a symbol has no columns
			break
		}
		binary.LittleEndian.PutUint64(out, e.text[0])
		binary.LittleEndian.PutUint64(out[8:], e.text[1])
		binary.LittleEndian.PutUint64(out[16:], e.text[2])
		rest, out, cols, end = rest[n+i:], out[e.size:], cols-e.cols, e.tail
		s.misses--
	}
	if end != 0 {
		m.k, m.taken, m.cols = len(m.out)-len(out), len(p)-len(rest), cols
		m.last, m.state, m.wide = m.k-int(end&0xff), width.State(end>>8), true
	}
	return more || cols > 0 && (len(rest) < symbolBytes || len(out) < symbolText+packedSlack)
}

// wideOf3 reports whether v begins with a wide character of three bytes that joins nothing: Han, which most are, kana or Hangul.
func wideOf3(v uint64) bool {
	return byte(v)-firstHan <= lastHan-firstHan && v&0xc0c000 == 0x808000 ||
		v&0xc0c0f0 == 0x8080e0 && (width.ClassOf3(byte(v), byte(v>>8)) == 2 || hiragana(rune3(uint32(v))))
}

// hiragana reports whether r is a letter of a script whose marks stand between its letters, so there is no class for it.
func hiragana(r rune) bool { return uint32(r-0x3041) <= 0x3096-0x3041 }
