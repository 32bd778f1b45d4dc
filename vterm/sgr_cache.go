package vterm

import (
	"encoding/binary"
	"math/bits"

	"github.com/longterm-dev/longterm/vterm/internal/grid"
	"github.com/longterm-dev/longterm/vterm/internal/parse"
	"github.com/longterm-dev/longterm/vterm/internal/scan"
)

// sgrCache remembers what SGR sequences do, by their bytes: programs repeat a few of them
// over and over, and to look one up is cheaper than to read its parameters, apply them one
// by one and find the style that comes of it.
//
// What it holds was put in by the slow path, so it cannot know better.
type sgrCache struct {
	sets    [][2]sgrEffect // by hash; nil before the first sequence
	evicted int
	learned int // effects that ever were
	misses  int // since a sequence was known
}

// After so many misses in a row only each sampleEvery-th sequence that sets one colour is looked up. Those between are
// read manyLetters at a time.
const (
	manyMisses  = 64
	sampleEvery = 256
	manyLetters = 64
)

// seldom reports whether sequences that set a colour hardly come again, so that to read this one is less than to look it
// up and note it.
func (c *sgrCache) seldom() bool { return c.misses > manyMisses && c.misses%sampleEvery != 0 }

// sgrEffect is what a sequence does: every bit of the pen is kept, set or cleared, but for its
// link, which SGR leaves alone. The zero value stands for none: no sequence has key 0.
type sgrEffect struct {
	sgrKey
	keep, set penBits
	// last is the pen that came of it the last time, and id that pen's style, styleUnknown before
	// anything was printed with it. Most sequences lead to the same pen again and again.
	last    penBits
	link    LinkID
	id      StyleID
	learned bool // keep and set are known
}

// penBits is a pen but for its link.
type penBits struct{ colors, rest uint64 }

func bitsOf(s *Style) penBits {
	return penBits{uint64(s.FG) | uint64(s.BG)<<32, uint64(s.ULColor) | uint64(s.Attrs)<<32 | uint64(s.Underline)<<48}
}

// put changes all of a style but its link.
func (b penBits) put(s *Style) {
	s.FG, s.BG, s.ULColor = Color(b.colors), Color(b.colors>>32), Color(b.rest)
	s.Attrs, s.Underline = Attrs(b.rest>>32), Underline(b.rest>>48)
}

// sgrKey is a sequence from behind "ESC [" to its final byte, padded with zeros.
type sgrKey struct{ a, b, c uint64 }

// The table grows when it misses often: most terminals see few sequences.
const (
	sgrSetsMin = 16
	sgrSetsMax = 256
)

// styleUnknown stands for the number of a style, or the place of an effect, that is not known.
const styleUnknown = ^StyleID(0)

// keyReach is how many bytes readKey looks at.
const keyReach = 2 + 3*8

// readKey makes the key of the sequence at the start of p, from ESC [ on, and returns its
// length, 0 for one that does not end soon. Whether the bytes before the final one make
// sense is not looked at.
func readKey(q *[keyReach]byte) (key sgrKey, n int) {
	p := q[2:]
	key.a = binary.LittleEndian.Uint64(p)
	end := finalByte(key.a)
	if end < 8 {
		key.a = upTo(key.a, end)
	} else if key.b = binary.LittleEndian.Uint64(p[8:]); finalByte(key.b) < 8 {
		end += finalByte(key.b)
		key.b = upTo(key.b, end-8)
	} else if key.c = binary.LittleEndian.Uint64(p[16:]); finalByte(key.c) < 8 {
		end += 8 + finalByte(key.c)
		key.c = upTo(key.c, end-16)
	} else {
		return key, 0
	}
	return key, 3 + end
}

// finalByte finds the first byte of a word that may end a sequence; what stands before it
// has bit 6 clear. It is 8 when there is none.
func finalByte(w uint64) int { return bits.TrailingZeros64(w&(0x40*scan.LowBits)) / 8 }

// upTo clears what is behind byte i of a word.
func upTo(w uint64, i int) uint64 { return w & (^uint64(0) >> (56 - 8*i&63)) }

// set is where a sequence stands if it is known.
func (c *sgrCache) set(key sgrKey) uint64 {
	h := (key.a ^ bits.RotateLeft64(key.b, 23) ^ bits.RotateLeft64(key.c, 41)) * 0x9e3779b97f4a7c15
	return h >> 56 & uint64(len(c.sets)-1) // every bit of the key has a say in the top ones
}

func (e *sgrEffect) is(key sgrKey) bool { return e.a == key.a && e.b == key.b && e.c == key.c }

// clear forgets everything.
func (c *sgrCache) clear() { *c = sgrCache{} }

// note keeps a sequence that came for the first time, in place of the older one of its set,
// or what it does when it comes again. So what never comes again costs little.
func (c *sgrCache) note(key sgrKey, s *parse.Seq) {
	if c.sets == nil {
		c.sets = make([][2]sgrEffect, sgrSetsMin)
	}
	set := &c.sets[c.set(key)]
	for i := range set {
		if e := &set[i]; e.is(key) {
			c.learned++
			e.learn(s)
			return
		}
	}
	c.misses++
	if c.evicted++; c.evicted > 4*len(c.sets) && len(c.sets) < sgrSetsMax {
		c.sets, c.evicted = make([][2]sgrEffect, 2*len(c.sets)), 0
		set = &c.sets[c.set(key)]
	}
	if set[0].learned {
		set[1] = set[0]
	} else {
		set[1].sgrKey, set[1].learned = set[0].sgrKey, false
	}
	set[0].sgrKey, set[0].learned = key, false
}

// learn finds out what a sequence does, by doing it to a pen of zeros and one of ones.
func (e *sgrEffect) learn(s *parse.Seq) {
	set := Style{}
	keep := Style{FG: ^Color(0), BG: ^Color(0), ULColor: ^Color(0), Attrs: ^Attrs(0), Underline: ^Underline(0)}
	applySGR(&set, s)
	applySGR(&keep, s)
	e.set, e.keep = bitsOf(&set), bitsOf(&keep)
	e.keep.colors &^= e.set.colors
	e.keep.rest &^= e.set.rest
	e.last, e.link, e.id = penBits{}, 0, 0
	e.learned = true
}

// knownSGR carries out an SGR that the cache knows; false if it does not.
func (r *rendition) knownSGR(key sgrKey) bool {
	c := &r.sgrSeen
	if len(c.sets) == 0 {
		return false
	}
	at := c.set(key)
	set := &c.sets[at]
	e := &set[0]
	at *= 2
	if !e.is(key) {
		at++
		if e = &set[1]; !e.is(key) {
			return false
		}
	}
	if !e.learned {
		return false
	}
	c.misses = 0
	b := bitsOf(&r.pen)
	b.colors = b.colors&e.keep.colors | e.set.colors
	b.rest = b.rest&e.keep.rest | e.set.rest
	b.put(&r.pen)
	if b != e.last || r.pen.Link != e.link {
		e.last, e.link, e.id = b, r.pen.Link, styleUnknown
	}
	r.cell = Cell(e.id)<<grid.CellStyleShift | r.protect
	r.penStale = e.id == styleUnknown
	r.penAt = StyleID(at)
	return true
}

// plainPen is knownSGR for "ESC [ m" and a pen without a link.
func (r *rendition) plainPen() {
	r.pen, r.cell, r.penStale, r.penAt = Style{}, r.protect, false, styleUnknown
	r.sgrSeen.misses = 0
}

// found notes the style of the pen where the sequence stands that led to it.
func (r *rendition) found(id StyleID) {
	if c := &r.sgrSeen; uint64(r.penAt) < 2*uint64(len(c.sets)) {
		if e := &c.sets[r.penAt/2][r.penAt%2]; e.last == bitsOf(&r.pen) && e.link == r.pen.Link {
			e.id = id
		}
	}
}

// newSGR carries out the SGR that p starts with, parsed as s, and has the cache note it.
func (r *rendition) newSGR(p []byte, s *parse.Seq) {
	if len(p) >= keyReach {
		if key, n := readKey((*[keyReach]byte)(p)); n > 0 {
			r.sgrSeen.note(key, s)
		}
	}
	r.sgr(s)
}

// noteAt is note for a sequence that the parser read, one with colons, from the first n bytes of p. They must be all that
// stands up to its final byte: else a part of it was read before.
func (c *sgrCache) noteAt(p []byte, n int, s *parse.Seq) {
	if len(p) >= keyReach && p[0] == 0x1b && p[1] == '[' {
		if key, k := readKey((*[keyReach]byte)(p)); k == n {
			c.note(key, s)
		}
	}
}

// newColors carries out the SGR that p begins with if all it does is to set the text's or the background's colour of 24
// bits, prints the text behind it, and goes on while the like follows. It returns the bytes taken, 0 for any other sequence.
func (t *Terminal) newColors(p []byte) (at int) {
	for len(p)-at >= keyReach && t.sgrSeen.seldom() {
		rgb, n, background := scan.Color((*[scan.ColorReach]byte)(p[at:]))
		if n == 0 {
			return at
		}
		t.sgrSeen.misses++
		if c := RGB(0, 0, 0) | Color(rgb); background {
			t.pen.BG = c
		} else {
			t.pen.FG = c
		}
		t.penChanged()
		t.join = 0
		if at += n; len(p)-at > 1 && p[at]-0x20 < 0x5f {
			single := p[at+1] < ' '
			n := t.looseText(p[at:])
			if n == 0 {
				n = t.fastText(p[at:]) // the style has an id
			}
			if at += n; single && n > 0 {
				at += t.looseLetters(p[at:])
			}
		}
	}
	return at
}
