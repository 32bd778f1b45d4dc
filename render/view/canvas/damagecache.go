package canvas

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"
)

// damageCache caches the cells as last drawn. tcell compares all cells with its own copy at each drawing, which takes
// longer than everything else between a key's echo and its drawing. Drawn cells are therefore locked in tcell, which
// skips them, and compared here; a changed cell is unlocked. While much changes at each drawing, as in floods, no more
// cells are locked: locking would cost more than it saves. No cell is locked while images are requested or shown,
// because images lock the cells below them. The last two cells of the screen are never locked: some terminals reach the
// corner only through the cell before it, which tcell then draws again.
type damageCache struct {
	cols, rows int
	locked     []bool // locked cells; nil if unset
	unlocked   []int  // indices of unlocked cells that were locked before
	changes    int    // changed cells since the last drawing
}

// cornerCells is the number of last cells that are never locked.
const cornerCells = 2

// fewChanges is the fraction of cells that may change at a drawing for locking to pay off: one in fewChanges.
const fewChanges = 8

// isLocked reports whether a cell is locked.
func (s *damageCache) isLocked(x, y int) bool {
	return x >= 0 && y >= 0 && x < s.cols && y < s.rows && s.locked[y*s.cols+x]
}

// put draws a character unless it is already there.
func (c *Canvas) put(x, y int, text string, st tcell.Style) (rest string, width int) {
	if c.damage.isLocked(x, y) {
		was, look, n := c.screen.Get(x, y)
		cluster, rest, width, _ := uniseg.FirstGraphemeClusterInString(text, -1)
		if cluster == was && look == st && n == width {
			return rest, width
		}
		c.unlock(x, y, n)
	}
	c.damage.changes++
	rest, width = c.screen.Put(x, y, text, st)
	if width > 1 { // the covered cells are drawn when the character is removed; cells covered before are drawn now
		_, _, n := c.screen.Get(x+1, y)
		c.unlock(x+1, y, n)
	}
	return rest, width
}

// unlock unlocks cells of a row and those covered by wide characters in them.
func (c *Canvas) unlock(x, y, n int) {
	s := &c.damage
	for end := x + n; x < end; x++ {
		if s.isLocked(x, y) {
			_, _, width := c.screen.Get(x, y)
			end = max(end, x+width)
			s.locked[y*s.cols+x] = false
			s.unlocked = append(s.unlocked, y*s.cols+x)
			c.screen.LockRegion(x, y, 1, 1, false)
		}
	}
}

// lockDrawn locks the drawn cells if few have changed.
func (c *Canvas) lockDrawn() {
	s := &c.damage
	changes := s.changes
	s.changes = 0
	cols, rows := c.screen.Size()
	if changes > cols*rows/fewChanges || len(c.pictures.shown) > 0 || c.tap().needsRedraw() {
		return
	}
	if s.locked == nil || s.cols != cols || s.rows != rows {
		*s = damageCache{cols: cols, rows: rows, locked: make([]bool, cols*rows)}
		corner := max(0, cols*rows-cornerCells)
		for i := range corner {
			s.locked[i] = true
		}
		c.reportLocked(true)
		c.screen.LockRegion(0, 0, cols, rows, true)
		for i := corner; i < cols*rows; i++ {
			c.screen.LockRegion(i%cols, i/cols, 1, 1, false)
		}
		return
	}
	for _, i := range s.unlocked {
		s.locked[i] = true
		c.screen.LockRegion(i%cols, i/cols, 1, 1, true)
	}
	s.unlocked = s.unlocked[:0]
}

// unlockCells unlocks all cells and schedules a full redraw.
func (c *Canvas) unlockCells() {
	if c.damage.locked != nil {
		c.damage = damageCache{}
		c.reportLocked(false)
		unlockAll(c.screen)
	}
}

// unlockAll unlocks all cells.
func unlockAll(screen tcell.Screen) {
	cols, rows := screen.Size()
	screen.LockRegion(0, 0, cols, rows, false)
}

// tap returns the wrapped terminal, or nil for a simulated one.
func (c *Canvas) tap() *terminalTap {
	tty, _ := c.screen.Tty()
	h, _ := tty.(*terminalTap)
	return h
}

// reportLocked records in the terminal wrapper whether cells are locked.
func (c *Canvas) reportLocked(is bool) {
	if h := c.tap(); h != nil {
		h.cellsLocked.Store(is)
	}
}

// redrawIfRequested redraws everything if the terminal requested it, because the screen redraws only unlocked cells. With images,
// no cell is locked.
func (c *Canvas) redrawIfRequested() {
	if h := c.tap(); h.needsRedraw() {
		h.redrawRequested.Store(false)
		if len(c.pictures.wanted)+len(c.pictures.shown) == 0 {
			c.Sync()
		}
	}
}

// needsRedraw reports whether the terminal requested a redraw that has not been done.
func (h *terminalTap) needsRedraw() bool { return h != nil && h.redrawRequested.Load() }

// NotifyResize implements tcell.Tty. A terminal that reports a resize to the same size requests a redraw. The screen
// redraws unlocked cells; the next drawing redraws locked ones.
func (h *terminalTap) NotifyResize(resized func()) {
	if resized == nil {
		h.Tty.NotifyResize(nil)
		return
	}
	h.Tty.NotifyResize(func() {
		h.redrawRequested.Store(true)
		if h.cellsLocked.Load() {
			unlockAll(h.screen)
		}
		resized()
	})
}

// Sync redraws everything on the terminal.
func (c *Canvas) Sync() {
	c.unlockCells()
	c.screen.Sync()
}
