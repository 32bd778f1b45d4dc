package vterm

import (
	"encoding/binary"
	"math/bits"

	"github.com/longterm-dev/longterm/vterm/internal/bytescan"
	"github.com/longterm-dev/longterm/vterm/internal/grid"
	"github.com/longterm-dev/longterm/vterm/internal/parse"
)

// sgrCache caches the effects of SGR sequences by their bytes. Programs repeat a few sequences, and a lookup is cheaper
// than parsing parameters, applying them and finding the resulting style. The slow path fills the cache, so results are
// the same.
type sgrCache struct {
	sets    [][2]sgrEffect // two-way sets by hash; nil before the first sequence
	evicted int
	learned int // number of effects learned
	misses  int // consecutive misses
}

// After manyMisses consecutive misses, only each sampleEvery-th sequence that sets one colour is looked up. Those
// between are read manyLetters at a time.
const (
	manyMisses  = 64
	sampleEvery = 256
	manyLetters = 64
)

// seldom reports whether sequences that set a colour hardly repeat, so that parsing this one is cheaper than looking it
// up and storing it.
func (c *sgrCache) seldom() bool { return c.misses > manyMisses && c.misses%sampleEvery != 0 }

// sgrEffect is the effect of a sequence: it keeps, sets or clears each bit of the pen except its link, which SGR does
// not change. The zero value has no effect: no sequence has key 0.
type sgrEffect struct {
	sgrKey
	keep, set penBits
	// last is the pen after the last use, and id the id of its style, or styleUnknown before the first print with it.
	// Most sequences lead to the same pen repeatedly.
	last    penBits
	link    LinkID
	id      StyleID
	learned bool // keep and set are known
}

// penBits is a pen without its link, as bits.
type penBits struct{ colors, other uint64 }

func bitsOf(s *Style) penBits {
	return penBits{uint64(s.FG) | uint64(s.BG)<<32, uint64(s.ULColor) | uint64(s.Attrs)<<32 | uint64(s.Underline)<<48}
}

// put sets all of a style but its link.
func (b penBits) put(s *Style) {
	s.FG, s.BG, s.ULColor = Color(b.colors), Color(b.colors>>32), Color(b.other)
	s.Attrs, s.Underline = Attrs(b.other>>32), Underline(b.other>>48)
}

// sgrKey holds the bytes of a sequence after "ESC [" up to its final byte, padded with zeros.
type sgrKey struct{ a, b, c uint64 }

// The table grows when it misses often: most terminals see few sequences.
const (
	sgrSetsMin = 16
	sgrSetsMax = 256
)

// styleUnknown marks an unknown style number or place of an effect.
const styleUnknown = ^StyleID(0)

// keyReach is the number of bytes that readKey reads.
const keyReach = 2 + 3*8

// readKey returns the key of the sequence at the start of p, which starts with ESC [, and its length, or 0 for a long
// one. It does not validate the bytes before the final one.
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

// finalByte returns the index of the first byte of a word that may end a sequence, whose preceding bytes have bit 6
// clear, or 8.
func finalByte(w uint64) int { return bits.TrailingZeros64(w&(0x40*bytescan.LowBits)) / 8 }

// upTo clears what is behind byte i of a word.
func upTo(w uint64, i int) uint64 { return w & (^uint64(0) >> (56 - 8*i&63)) }

// set returns the position of a sequence in the cache, if it is known.
func (c *sgrCache) set(key sgrKey) uint64 {
	h := (key.a ^ bits.RotateLeft64(key.b, 23) ^ bits.RotateLeft64(key.c, 41)) * 0x9e3779b97f4a7c15
	return h >> 56 & uint64(len(c.sets)-1) // every bit of the key affects the top ones
}

// is reports whether the effect belongs to a key.
func (e *sgrEffect) is(key sgrKey) bool { return e.a == key.a && e.b == key.b && e.c == key.c }

// clear forgets everything.
func (c *sgrCache) clear() { *c = sgrCache{} }

// add stores an unknown sequence in place of the older one of its set. Its effect is learned when it occurs again, so
// sequences that never repeat cost little.
func (c *sgrCache) add(key sgrKey, s *parse.Seq) {
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

// learn determines the effect of a sequence by applying it to a pen of zeros and a pen of ones.
func (e *sgrEffect) learn(s *parse.Seq) {
	set := Style{}
	keep := Style{FG: ^Color(0), BG: ^Color(0), ULColor: ^Color(0), Attrs: ^Attrs(0), Underline: ^Underline(0)}
	applySGR(&set, s)
	applySGR(&keep, s)
	e.set, e.keep = bitsOf(&set), bitsOf(&keep)
	e.keep.colors &^= e.set.colors
	e.keep.other &^= e.set.other
	e.last, e.link, e.id = penBits{}, 0, 0
	e.learned = true
}

// knownSGR applies an SGR from the cache; it returns false for an unknown one.
func (r *rendition) knownSGR(key sgrKey) bool {
	c := &r.sgrCache
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
	b.other = b.other&e.keep.other | e.set.other
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
	r.sgrCache.misses = 0
}

// cacheStyle stores the pen's style in the cache entry of the sequence that led to it.
func (r *rendition) cacheStyle(id StyleID) {
	if c := &r.sgrCache; uint64(r.penAt) < 2*uint64(len(c.sets)) {
		if e := &c.sets[r.penAt/2][r.penAt%2]; e.last == bitsOf(&r.pen) && e.link == r.pen.Link {
			e.id = id
		}
	}
}

// newSGR applies the SGR at the start of p, parsed as s, and stores it in the cache.
func (r *rendition) newSGR(p []byte, s *parse.Seq) {
	if len(p) >= keyReach {
		if key, n := readKey((*[keyReach]byte)(p)); n > 0 {
			r.sgrCache.add(key, s)
		}
	}
	r.sgr(s)
}

// addAt is add for a sequence with colons, in the first n bytes of p. They must contain the whole sequence: otherwise
// a part of it was read before.
func (c *sgrCache) addAt(p []byte, n int, s *parse.Seq) {
	if len(p) >= keyReach && p[0] == 0x1b && p[1] == '[' {
		if key, k := readKey((*[keyReach]byte)(p)); k == n {
			c.add(key, s)
		}
	}
}

// runColorSGRs executes the SGR at the start of p if it only sets the text's or background's colour of 24 bits, prints the
// text after it, and repeats while the same form follows. It returns the number of consumed bytes, 0 for any other
// sequence.
func (t *Terminal) runColorSGRs(p []byte) (at int) {
	for len(p)-at >= keyReach && t.sgrCache.seldom() {
		rgb, n, background := bytescan.Color((*[bytescan.ColorReach]byte)(p[at:]))
		if n == 0 {
			return at
		}
		t.sgrCache.misses++
		if c := RGB(0, 0, 0) | Color(rgb); background {
			t.pen.BG = c
		} else {
			t.pen.FG = c
		}
		t.penChanged()
		t.join = 0
		if at += n; len(p)-at > 1 && p[at]-0x20 < 0x5f {
			single := p[at+1] < ' '
			n := t.fastTextWithoutID(p[at:])
			if n == 0 {
				n = t.fastText(p[at:]) // the style has an id
			}
			if at += n; single && n > 0 {
				at += t.fastColoredLetters(p[at:])
			}
		}
	}
	return at
}
