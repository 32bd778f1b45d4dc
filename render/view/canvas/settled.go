package canvas

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"
)

// settled are cells that stand on the terminal as they were drawn. The screen compares each of its cells at each drawing with
// what it drew before, which takes longer than all else between a key's echo and its drawing. So cells that were drawn are
// locked there, and what is put into one is compared here: a lock is passed over at once, and what loses it is drawn.
//
// While much changes at each drawing, as under floods, no more is locked: that would be more work, not less. Nor is anything
// while images are wanted or shown: shown, they lock what lies below them.
//
// The last two cells of the screen are not: some terminals reach the corner only by way of the cell before it, which the
// screen then draws again.
type settled struct {
	cols, rows int
	locked     []bool // nil: nothing is
	loose      []int  // cells that were locked before
	changes    int    // since the last drawing
}

// cornerCells are the last ones, which are never locked.
const cornerCells = 2

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

// loosen has cells of a row drawn, and what wide characters in them cover: they may go.
func (c *Canvas) loosen(x, y, n int) {
	s := &c.settled
	for end := x + n; x < end; x++ {
		if s.holds(x, y) {
			_, _, width := c.screen.Get(x, y)
			end = max(end, x+width)
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
	if changes > cols*rows/fewChanges || len(c.pictures.shown) > 0 || c.hearing().asksAnew() {
		return
	}
	if s.locked == nil || s.cols != cols || s.rows != rows {
		*s = settled{cols: cols, rows: rows, locked: make([]bool, cols*rows)}
		corner := max(0, cols*rows-cornerCells)
		for i := range corner {
			s.locked[i] = true
		}
		c.tellSettled(true)
		c.screen.LockRegion(0, 0, cols, rows, true)
		for i := corner; i < cols*rows; i++ {
			c.screen.LockRegion(i%cols, i/cols, 1, 1, false)
		}
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

// hearing is the terminal as it is drawn on; nil: a simulated one.
func (c *Canvas) hearing() *hearing {
	tty, _ := c.screen.Tty()
	h, _ := tty.(*hearing)
	return h
}

// tellSettled tells the terminal whether cells are locked.
func (c *Canvas) tellSettled(is bool) {
	if h := c.hearing(); h != nil {
		h.settled.Store(is)
	}
}

// answer draws all anew where the terminal asked for that: the screen did, of what was not locked then. Where there are
// images nothing was.
func (c *Canvas) answer() {
	if h := c.hearing(); h.asksAnew() {
		h.anew.Store(false)
		if len(c.pictures.want)+len(c.pictures.shown) == 0 {
			c.Sync()
		}
	}
}

// asksAnew says whether the terminal asked to be drawn anew, and was not answered.
func (h *hearing) asksAnew() bool { return h != nil && h.anew.Load() }

// NotifyResize implements tcell.Tty. A terminal that says it has a new size and has the old one asks to be drawn anew: the
// screen does so, of what is not locked. What is locked in between is drawn with what is drawn next.
func (h *hearing) NotifyResize(resized func()) {
	if resized == nil {
		h.Tty.NotifyResize(nil)
		return
	}
	h.Tty.NotifyResize(func() {
		h.anew.Store(true)
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
