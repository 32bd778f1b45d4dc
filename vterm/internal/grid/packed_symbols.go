package grid

import (
	"encoding/binary"
	"math/bits"

	"github.com/longterm-dev/longterm/vterm/internal/bytescan"
	"github.com/longterm-dev/longterm/vterm/internal/width"
)

// symbols caches the encoded form of character sequences between Han and ASCII in packed rows. Programs repeat a few
// emoji, and a lookup is cheaper than finding cluster boundaries and widths. mixture.chars fills it, so results are the
// same.
type symbols struct {
	slots      [64]symbol
	lastMissed [64]uint16 // hash of the last unknown sequence of each slot
}

// symbol is a sequence of one or more clusters of fewer than symbolBytes bytes. The zero value is an empty sequence
// without columns.
type symbol struct {
	key        symbolKey
	text       [3]uint64 // encoded text in the form of a packed row
	size, cols int       // bytes of the text, and its columns
	tail       tail      // end of the sequence
}

// symbolKey holds the printed bytes, padded with zeros.
type symbolKey struct{ a, b uint64 }

// symbolBytes is the largest length of a sequence in bytes, symbolText that of its encoded text.
const symbolBytes, symbolText = 16, 24

// tail describes the end of a run:
//
//	bits  0–7  distance of the last character's start from the end
//	bits  8–15 the state after it
type tail uint64

// keyOf returns the key of the bytes at the start of p before the next character for which joinsNothing is true, and
// their length, or symbolBytes if none is near.
func keyOf(p *[symbolBytes]byte) (symbolKey, int) {
	a, b := binary.LittleEndian.Uint64(p[:]), binary.LittleEndian.Uint64(p[8:])
	n, m := symbolEnd(a, b)
	return symbolKey{firstOf(a, n), firstOf(b, m)}, n + m
}

// symbolEnd returns the number of bytes of a, and of b after all of a, before the next character for which joinsNothing
// is true.
func symbolEnd(a, b uint64) (n, m int) {
	n = bits.TrailingZeros64(joinNothing(a)) / 8
	return n, bits.TrailingZeros64(joinNothing(b)) / 8 & -(n / 8)
}

// firstOf returns the first n bytes of w.
func firstOf(w uint64, n int) uint64 { return w & (1<<(8*n) - 1) }

// joinNothing sets the high bit of those of 8 bytes for which joinsNothing is true.
func joinNothing(w uint64) uint64 {
	low := w & (0x7f * bytescan.LowBits) // adding to one of these does not reach the next
	return (^w | (low+(0x100-firstHan)*bytescan.LowBits)&^(low+(0xff-lastHan)*bytescan.LowBits)) & (0x80 * bytescan.LowBits)
}

// twoMarked returns the two characters of three bytes at the start of v in the form of packed text. Both must be wide.
func twoMarked(v uint64) uint64 {
	return v&0xffffff<<8 | v&0xffffff000000<<16 | markWide | markWide<<32
}

// slot returns the slot of a symbol.
func (s *symbols) slot(key symbolKey) *symbol {
	return &s.slots[key.hash()>>58]
}

func (key symbolKey) hash() uint64 {
	return (key.a ^ bits.RotateLeft64(key.b, 29)) * 0x9e3779b97f4a7c15
}

// noSymbols is the empty cache of a terminal that has not printed symbols.
var noSymbols symbols

// symbolTable is a cache of symbols with a count of its misses.
type symbolTable struct {
	known  *symbols // nil before the first
	misses int      // misses minus hits, at least 0
}

// After manyMisses misses only each sampleEvery-th run is looked up.
const (
	manyMisses  = 64
	sampleEvery = 64
)

// Pack reduces memory use. Call it when the terminal will be idle.
func (tb *Tables) Pack() { tb.symbols = symbolTable{} }

// seldom reports whether symbols hardly repeat, so that handling a run character by character is cheaper than a lookup.
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

// noteMiss records an unknown symbol and reports whether it was seen before: symbols that never repeat cost little.
func (s *symbolTable) noteMiss(key symbolKey) (again bool) {
	s.misses = max(s.misses, -manyMisses) + 1
	if s.known == nil {
		s.known = new(symbols)
	}
	h := key.hash()
	at, tag := &s.known.lastMissed[h>>58], uint16(h>>42)
	again = *at == tag
	*at = tag
	return again
}

// begins reports whether the first character never joins a Han or ASCII character before it.
func (key symbolKey) begins() bool {
	r, _ := runeOf(uint32(key.a))
	props := width.Of(r)
	return props.Starter() || props.Regional()
}

// learn stores the result for a symbol that chars just consumed, at out[k:], in cols columns.
func (s *symbolTable) learn(key symbolKey, m *mixture, k, cols int) {
	if m.last < k || m.size-k > symbolText || len(m.out)-k < symbolText || !key.begins() {
		return
	}
	t := m.out[k : k+symbolText]
	e := s.known.slot(key)
	e.key, e.size, e.cols = key, m.size-k, cols
	e.tail = tail(m.size-m.last) | tail(m.state)<<8
	for i := range e.text {
		e.text[i] = binary.LittleEndian.Uint64(t[8*i:])
	}
}

// run consumes as much of p as possible, from m.consumed on.
func (m *mixture) run(s *symbolTable, p []byte) {
	for m.skipped == 0 && m.graphemes {
		if s.seldom() || m.state != stateUnknown && !width.Ends(m.state) {
			break
		}
		if !m.known(s, p) {
			return
		}
		if len(p)-m.consumed < symbolBytes {
			break
		}
		key, n := keyOf((*[symbolBytes]byte)(p[m.consumed:]))
		stop, k, cols := m.consumed+max(n, 1), m.size, m.cols
		again := s.noteMiss(key)
		if !m.chars(p, stop) {
			return
		}
		if again && n < symbolBytes && m.consumed == stop {
			s.learn(key, m, k, cols-m.cols)
		}
	}
	m.chars(p, len(p))
}

// known consumes Han and similar characters, ASCII and known symbols, as long as they follow each other: nothing joins
// there. It returns false at the end.
func (m *mixture) known(s *symbolTable, p []byte) (more bool) {
	const han = tail(4) | tail(stateUnknown)<<8
	const ascii = tail(1) | tail(width.Plain)<<8
	known := s.known
	if known == nil {
		known = &noSymbols
	}
	out, rest, cols := m.out[m.size:], p[m.consumed:], m.cols
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
			i := min(bits.TrailingZeros64(bytescan.NotPrintable(v))/8, cols)
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
		e := known.slot(key)
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
		m.size, m.consumed, m.cols = len(m.out)-len(out), len(p)-len(rest), cols
		m.last, m.state, m.wide = m.size-int(end&0xff), width.State(end>>8), true
	}
	return more || cols > 0 && (len(rest) < symbolBytes || len(out) < symbolText+packedSlack)
}

// wideOf3 reports whether v starts with a wide character of three bytes that joins nothing: Han (most), kana or Hangul.
func wideOf3(v uint64) bool {
	return byte(v)-firstHan <= lastHan-firstHan && v&0xc0c000 == 0x808000 ||
		v&0xc0c0f0 == 0x8080e0 && (width.ClassOf3(byte(v), byte(v>>8)) == 2 || hiragana(rune3(uint32(v))))
}

// hiragana reports whether r is a letter of a script whose marks are between its letters, so that it has no class.
func hiragana(r rune) bool { return uint32(r-0x3041) <= 0x3096-0x3041 }
