package canvas

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"
)

// settled are cells that stand on the terminal as they were drawn. The screen compares each of its cells at each drawing with
// what it drew before, which takes longer than all else between a key's echo and its drawing. So cells that were drawn are
// locked there, and what is put into one is compared here: a lock is passed over at once, and what loses it is drawn.
//
// While much changes at each drawing, as under floods, nothing is locked: that would be more work, not less. Nor is anything
// while images are shown, which lock what lies below them.
type settled struct {
	cols, rows int
	locked     []bool
	loose      []int // cells that were locked; nil: nothing is
	changes    int   // since the last drawing
}

// fewChanges is the part of all cells of which at most so many change at a drawing that it is worth while to lock them.
const fewChanges = 8

// holds reports that a cell is locked.
func (s *settled) holds(x, y int) bool {
	return x >= 0 && y >= 0 && x < s.cols && y < s.rows && s.locked[y*s.cols+x]
}

// put puts a character on the screen, unless it stands there.
func (c *Canvas) put(x, y int, text string, st tcell.Style) (rest string, width int) {
	if c.settled.holds(x, y) {
		was, look, n := c.screen.Get(x, y)
		cluster, rest, width, _ := uniseg.FirstGraphemeClusterInString(text, -1)
		if cluster == was && look == st && n == width {
			return rest, width
		}
		c.loosen(x, y, n)
	}
	c.settled.changes++
	rest, width = c.screen.Put(x, y, text, st)
	if width > 1 { // what it covers is drawn when it is not there any more, and what that covered, now
		_, _, n := c.screen.Get(x+1, y)
		c.loosen(x+1, y, n)
	}
	return rest, width
}

// loosen has cells of a row drawn.
func (c *Canvas) loosen(x, y, n int) {
	s := &c.settled
	for end := x + n; x < end; x++ {
		if s.holds(x, y) {
			s.locked[y*s.cols+x] = false
			s.loose = append(s.loose, y*s.cols+x)
			c.screen.LockRegion(x, y, 1, 1, false)
		}
	}
}

// settle locks what was drawn, if little was.
func (c *Canvas) settle() {
	s := &c.settled
	changes := s.changes
	s.changes = 0
	cols, rows := c.screen.Size()
	if changes > cols*rows/fewChanges || len(c.pictures.shown) > 0 {
		return
	}
	if s.locked == nil || s.cols != cols || s.rows != rows {
		*s = settled{cols: cols, rows: rows, locked: make([]bool, cols*rows)}
		for i := range s.locked {
			s.locked[i] = true
		}
		c.tellSettled(true)
		c.screen.LockRegion(0, 0, cols, rows, true)
		return
	}
	for _, i := range s.loose {
		s.locked[i] = true
		c.screen.LockRegion(i%cols, i/cols, 1, 1, true)
	}
	s.loose = s.loose[:0]
}

// unsettle has everything drawn.
func (c *Canvas) unsettle() {
	if c.settled.locked != nil {
		c.settled = settled{}
		c.tellSettled(false)
		loosenAll(c.screen)
	}
}

func loosenAll(screen tcell.Screen) {
	cols, rows := screen.Size()
	screen.LockRegion(0, 0, cols, rows, false)
}

// tellSettled tells the terminal whether cells are locked.
func (c *Canvas) tellSettled(is bool) {
	if tty, _ := c.screen.Tty(); tty != nil {
		if h, ok := tty.(*hearing); ok {
			h.settled.Store(is)
		}
	}
}

// NotifyResize implements tcell.Tty. A terminal that says it has a new size and has the old one asks to be drawn anew: the
// screen does so, of what is not locked.
func (h *hearing) NotifyResize(resized func()) {
	if resized == nil {
		h.Tty.NotifyResize(nil)
		return
	}
	h.Tty.NotifyResize(func() {
		if h.settled.Load() {
			loosenAll(h.screen)
		}
		resized()
	})
}

// Sync has everything on the terminal drawn again as it is.
func (c *Canvas) Sync() {
	c.unsettle()
	c.screen.Sync()
}
