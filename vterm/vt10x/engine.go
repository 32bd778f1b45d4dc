package vt10x

import (
	"fmt"

	vt "github.com/hinshun/vt10x"

	"github.com/longterm-dev/longterm/vterm"
)

// Engine is a terminal. Its zero value is not usable; call New.
type Engine struct {
	opts       vterm.Options
	cols, rows int
	grid       grid
	out        []byte // for the library, not yet written to it

	scanner
	read uint64 // bytes taken so far

	tables
	pen        vterm.Style
	cs         charsets
	saved      savedCursor
	lastRune   rune // what REP repeats; 0: nothing
	modes      vterm.Modes
	insert     bool // IRM: reported, not obeyed
	cursor     vterm.Cursor
	cursorType int            // as set by DECSCUSR, 0–6
	kitty      [2]kittyStack  // of the primary and the alternate screen
	palette    *vterm.Palette // replaced, never changed; nil: the default
	title      string

	effects
	versions
}

// savedCursor is what DECSC saves and the library does not know.
type savedCursor struct {
	pen vterm.Style
	cs  charsets
}

var _ vterm.Engine = (*Engine)(nil)

// New makes a terminal. Sizes out of range are clamped.
func New(o vterm.Options) *Engine {
	e := &Engine{opts: o}
	e.cols, e.rows = clampSize(o.Cols, 80, vterm.MaxCols), clampSize(o.Rows, 24, vterm.MaxRows)
	e.grid = newGrid(e.cols, e.rows)
	e.modes.CellWidth, e.modes.CellHeight = orDefault(o.CellWidth, 8), orDefault(o.CellHeight, 16)
	e.cursor = vterm.Cursor{Visible: true, Blink: true}
	e.styles = []vterm.Style{{}}
	e.versions.start(e.rows)
	e.sync()
	return e
}

func orDefault(v, def int) int {
	if v <= 0 {
		return def
	}
	return v
}

func clampSize(v, def, most int) int { return min(max(orDefault(v, def), 1), most) }

// Pack implements vterm.Engine.
func (e *Engine) Pack() {}

// Written implements vterm.Engine.
func (e *Engine) Written() uint64 { return e.read }

// Write takes everything and never fails.
func (e *Engine) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		used := 0
		if e.state == ground {
			used = e.ground(p)
		} else {
			used = e.sequence(p)
		}
		p = p[used:]
	}
	e.flush()
	e.dirty = true
	if e.crowded() {
		e.compact()
	}
	return n, nil
}

// flushAt bounds what is kept back for the library: small, because each of hundreds of
// idle sessions keeps the buffer.
const flushAt = 1024

// put queues bytes for the library.
func (e *Engine) put(s string) {
	e.out = append(e.out, s...)
	if len(e.out) >= flushAt {
		e.flush()
	}
}

func (e *Engine) putf(format string, args ...any) {
	e.out = fmt.Appendf(e.out, format, args...)
	if len(e.out) >= flushAt {
		e.flush()
	}
}

// flush brings the library up to date, so that its cursor and cells can be used.
func (e *Engine) flush() {
	if len(e.out) > 0 {
		e.feed(e.out)
		e.out = e.out[:0]
	}
}

func (e *Engine) feed(p []byte) {
	e.guard(func() { _, _ = e.grid.term.Write(p) })
}

// guard runs the library. No input is known to make it panic once csi.go has bounded
// the numbers; if one does, the screen is kept and the library starts afresh.
func (e *Engine) guard(f func()) {
	defer func() {
		if recover() != nil {
			e.rebuild()
		}
	}()
	f()
}

// rebuild puts what can be read of the screens into a fresh library.
func (e *Engine) rebuild() {
	old := e.grid
	e.grid = newGrid(e.cols, e.rows)
	copyRows(*e.grid.lines, *old.lines)
	copyRows(*e.grid.other, *old.other)
	*e.grid.mode = *old.mode & modeBits
	*e.grid.cur = e.clampCursor(*old.cur)
	*e.grid.saved = e.clampCursor(*old.saved)
}

func copyRows(dst, src [][]vt.Glyph) {
	for i := range min(len(dst), len(src)) {
		copy(dst[i], src[i])
	}
}

func (e *Engine) clampCursor(c vt.Cursor) vt.Cursor {
	c.X = min(max(c.X, 0), e.cols-1)
	c.Y = min(max(c.Y, 0), e.rows-1)
	if c.State &= cursorBits; c.X < e.cols-1 {
		c.State &^= cursorWrapNext
	}
	return c
}

// Resize changes the size; the library cuts and pads, it does not reflow.
func (e *Engine) Resize(cols, rows int) {
	cols, rows = min(max(cols, vterm.MinCols), vterm.MaxCols), min(max(rows, vterm.MinRows), vterm.MaxRows)
	if cols == e.cols && rows == e.rows {
		return
	}
	e.flush()
	e.setPen(0, kindErased)
	was := e.cols
	e.cols, e.rows = cols, rows
	e.guard(func() { e.grid.term.Resize(cols, rows) })
	if cols > was {
		e.addTabs(was)
	}
	e.dirty, e.resized, e.bothScreens = true, true, true
	if e.modes.InBandResize {
		e.reportSize()
	}
}

// addTabs sets a tab stop every 8 columns from the first new one; the library leaves
// the new columns without.
func (e *Engine) addTabs(from int) {
	tabs := *e.grid.tabs
	for x := (from + 7) / 8 * 8; x < len(tabs); x += 8 {
		tabs[x] = x > 0
	}
}

// History is empty: lines that scroll off are gone.
func (e *Engine) History() vterm.History { return vterm.NoHistory{} }

// Recent returns an empty history as well.
func (e *Engine) Recent(int) vterm.History { return vterm.NoHistory{} }

// Modes are the modes in force.
func (e *Engine) Modes() vterm.Modes {
	m := e.modes
	m.Kitty = e.kittyNow().top()
	return m
}
