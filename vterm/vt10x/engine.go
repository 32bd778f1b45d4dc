package vt10x

import (
	"fmt"

	vt "github.com/hinshun/vt10x"

	"github.com/longterm-dev/longterm/vterm"
)

// Engine is a terminal. Its zero value is not usable; use New.
type Engine struct {
	opts       vterm.Options
	cols, rows int
	grid       grid
	out        []byte // bytes to be written to the library

	scanner
	read uint64 // consumed bytes

	tables
	pen        vterm.Style
	cs         charsets
	saved      savedCursor
	lastRune   rune // last printed character, for REP; 0: none
	modes      vterm.Modes
	insert     bool // IRM: reported, but without effect
	cursor     vterm.Cursor
	cursorType int            // as set by DECSCUSR, 0–6
	kitty      [2]kittyStack  // flags of the primary and the alternate screen
	palette    *vterm.Palette // replaced, never changed; nil: the default
	title      string

	effects
	versions
}

// savedCursor is the part of DECSC's state that the library does not have.
type savedCursor struct {
	pen vterm.Style
	cs  charsets
}

var _ vterm.Engine = (*Engine)(nil)

// New returns a terminal. Sizes out of range are clamped.
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

// Write accepts all bytes and never fails.
func (e *Engine) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		used := 0
		if e.state == ground {
			used = e.printText(p)
		} else {
			used = e.sequence(p)
		}
		p = p[used:]
	}
	e.flush()
	e.dirty = true
	if e.needsCompaction() {
		e.compact()
	}
	return n, nil
}

// flushAt is the size at which buffered bytes are written to the library. It is small because each of hundreds of idle
// sessions keeps the buffer.
const flushAt = 1024

// put buffers bytes for the library.
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

// flush writes the buffered bytes, so that the library's cursor and cells are current.
func (e *Engine) flush() {
	if len(e.out) > 0 {
		e.feed(e.out)
		e.out = e.out[:0]
	}
}

// feed writes bytes to the library.
func (e *Engine) feed(p []byte) {
	e.recoverPanic(func() { _, _ = e.grid.term.Write(p) })
}

// recoverPanic runs f, which calls the library. With the numbers limited by csi.go no input is known to make it panic. If it does, the
// screen is kept and the library is created again.
func (e *Engine) recoverPanic(f func()) {
	defer func() {
		if recover() != nil {
			e.rebuild()
		}
	}()
	f()
}

// rebuild copies the readable part of the screens into a new library terminal.
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
	e.recoverPanic(func() { e.grid.term.Resize(cols, rows) })
	if cols > was {
		e.addTabs(was)
	}
	e.dirty, e.resized, e.bothScreens = true, true, true
	if e.modes.InBandResize {
		e.reportSize()
	}
}

// addTabs sets a tab stop every 8 columns from the first new one, because the library sets none in new columns.
func (e *Engine) addTabs(from int) {
	tabs := *e.grid.tabs
	for x := (from + 7) / 8 * 8; x < len(tabs); x += 8 {
		tabs[x] = x > 0
	}
}

// History returns an empty history: the engine drops lines that scroll off.
func (e *Engine) History() vterm.History { return vterm.NoHistory{} }

// Recent returns an empty history as well.
func (e *Engine) Recent(int) vterm.History { return vterm.NoHistory{} }

// Modes returns the current modes.
func (e *Engine) Modes() vterm.Modes {
	m := e.modes
	m.Kitty = e.kittyNow().top()
	return m
}
