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
// What it holds was put in by the slow path, so it cannot know better. Pens have numbers of
// their own here, since many a pen is changed before anything is printed and need not
// become a style of the terminal.
type sgrCache struct {
	sets    [][2]sgrEffect // by hash; nil before the first sequence
	steps   *[sgrSteps]sgrStep
	evicted int
	learned uint32 // effects that ever were
	pens    grid.StyleTable
	known   []sgrPen // by their numbers in pens
}

// sgrPen is a pen and what it is as a style of the terminal, styleUnknown before it printed.
type sgrPen struct {
	style Style
	id    StyleID
}

// sgrEffect is what a sequence does: every bit of the pen is kept, set or cleared. The zero
// value stands for none: no sequence has key 0.
type sgrEffect struct {
	sgrKey
	number    uint32 // unique; 0 while keep and set are not known
	keep, set Style
}

// sgrStep is which pen became of a pen by an effect, by their numbers.
type sgrStep struct {
	effect   uint32
	from, to StyleID
}

// sgrKey is a sequence from behind "ESC [" to its final byte, padded with zeros.
type sgrKey struct{ a, b, c uint64 }

// The table grows when it misses often: most terminals see few sequences.
const (
	sgrSetsMin = 16
	sgrSetsMax = 256
	sgrSteps   = 512
	sgrPensMax = 1024 // pens, before all is forgotten
)

// styleUnknown stands for the number of a pen or style that was not looked up.
const styleUnknown = ^StyleID(0)

// keyReach is how many bytes readKey looks at.
const keyReach = 2 + 3*8

// readKey makes the key of the sequence at the start of p, from ESC [ on, and returns its
// length, 0 for one that does not end soon. Whether the bytes before the final one make
// sense is not looked at. There must be keyReach bytes.
func readKey(p []byte) (key sgrKey, n int) {
	p = p[2:keyReach]
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
func (c *sgrCache) set(key sgrKey) *[2]sgrEffect {
	h := (key.a ^ bits.RotateLeft64(key.b, 23) ^ bits.RotateLeft64(key.c, 41)) * 0x9e3779b97f4a7c15
	return &c.sets[h>>56&uint64(len(c.sets)-1)] // every bit of the key has a say in the top ones
}

// step is where it stands what an effect makes of a pen, if that is known.
func (c *sgrCache) step(effect uint32, from StyleID) *sgrStep {
	return &c.steps[(effect*0x9e3779b1+uint32(from)*0x85ebca6b)>>23%sgrSteps]
}

func (e *sgrEffect) is(key sgrKey) bool { return e.a == key.a && e.b == key.b && e.c == key.c }

// pen is the number of a pen.
func (c *sgrCache) pen(s *Style) StyleID {
	n := c.pens.ID(s)
	if int(n) == len(c.known) {
		c.known = append(c.known, sgrPen{*s, styleUnknown})
	}
	return n
}

// ready makes room for two more pens, if need be by forgetting everything.
func (c *sgrCache) ready() (forgot bool) {
	if c.sets != nil && len(c.pens.List) <= sgrPensMax {
		return false
	}
	c.clear()
	c.pens.Init()
	c.known = append(c.known, sgrPen{})
	c.sets = make([][2]sgrEffect, sgrSetsMin)
	c.steps = new([sgrSteps]sgrStep)
	return true
}

// clear forgets everything.
func (c *sgrCache) clear() { *c = sgrCache{} }

// note keeps a sequence that came for the first time, in place of the older one of its set,
// or what it does when it comes again. So what never comes again costs little.
func (c *sgrCache) note(key sgrKey, s *parse.Seq) {
	set := c.set(key)
	for i := range set {
		if e := &set[i]; e.is(key) {
			c.learned++
			e.number = c.learned
			e.learn(s)
			return
		}
	}
	if c.evicted++; c.evicted > 4*len(c.sets) && len(c.sets) < sgrSetsMax {
		c.sets, c.evicted = make([][2]sgrEffect, 2*len(c.sets)), 0
		set = c.set(key)
	}
	set[1] = set[0]
	e := &set[0]
	e.a, e.b, e.c, e.number = key.a, key.b, key.c, 0
}

// learn finds out what a sequence does, by doing it to a pen of zeros and one of ones.
func (e *sgrEffect) learn(s *parse.Seq) {
	e.set = Style{}
	e.keep = Style{FG: ^Color(0), BG: ^Color(0), ULColor: ^Color(0), Attrs: ^Attrs(0), Underline: ^Underline(0)}
	applySGR(&e.set, s)
	applySGR(&e.keep, s)
	e.keep.FG &^= e.set.FG
	e.keep.BG &^= e.set.BG
	e.keep.ULColor &^= e.set.ULColor
	e.keep.Attrs &^= e.set.Attrs
	e.keep.Underline &^= e.set.Underline
}

// knownSGR carries out an SGR that the cache knows; false if it does not.
func (r *rendition) knownSGR(key sgrKey) bool {
	c := &r.sgrSeen
	if len(c.sets) == 0 {
		return false
	}
	set := c.set(key)
	e := &set[0]
	if !e.is(key) {
		if e = &set[1]; !e.is(key) {
			return false
		}
	}
	if e.number == 0 {
		return false
	}
	s := c.step(e.number, r.penAt)
	if s.effect != e.number || s.from != r.penAt || int(s.to) >= len(c.known) {
		r.applyEffect(e)
		return true
	}
	pen := &c.known[s.to]
	r.penAt = s.to
	r.pen = pen.style
	r.cell = Cell(pen.id)<<grid.CellStyleShift | r.protect
	r.penStale = pen.id == styleUnknown
	return true
}

// applyEffect changes the pen as a sequence does.
func (r *rendition) applyEffect(e *sgrEffect) {
	c := &r.sgrSeen
	if c.ready() || r.penAt == styleUnknown {
		r.penAt = c.pen(&r.pen)
	}
	p := &r.pen
	p.FG = p.FG&e.keep.FG | e.set.FG
	p.BG = p.BG&e.keep.BG | e.set.BG
	p.ULColor = p.ULColor&e.keep.ULColor | e.set.ULColor
	p.Attrs = p.Attrs&e.keep.Attrs | e.set.Attrs
	p.Underline = p.Underline&e.keep.Underline | e.set.Underline
	to := c.pen(p)
	s := c.step(e.number, r.penAt)
	s.effect, s.from, s.to = e.number, r.penAt, to
	r.penAt = to
	id := c.known[to].id
	r.cell = Cell(id)<<grid.CellStyleShift | r.protect
	r.penStale = id == styleUnknown
}

// newSGR carries out the SGR that p starts with, parsed as s, and has the cache note it.
func (r *rendition) newSGR(p []byte, s *parse.Seq) {
	if r.sgrSeen.ready() {
		r.penAt = styleUnknown
	}
	if len(p) >= keyReach {
		if key, n := readKey(p); n > 0 {
			r.sgrSeen.note(key, s)
		}
	}
	r.sgr(s)
}
