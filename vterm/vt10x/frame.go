package vt10x

import (
	vt "github.com/hinshun/vt10x"

	"github.com/longterm-dev/longterm/vterm"
)

// versions records when the shown content last changed. Rows are compared on request (Frame, Version), not for each
// Write: output without viewers costs nothing here.
type versions struct {
	version     uint64
	full        uint64 // deltas are impossible before this version
	shown       frameState
	rowsAt      [2][]rowVersion // versions of the rows of the shown screen and of the other one, as in grid
	dirty       bool            // something was written since the last sync
	resized     bool            // all rows must be sent
	bothScreens bool            // the other screen may have changed too
	alt         bool            // rowsAt[0] is the alternate screen
	scratch     []vterm.Cell
}

// rowVersion is the digest of a row's content and the version of its last change.
type rowVersion struct {
	digest, version uint64
}

// frameState holds what a Frame shows besides rows.
type frameState struct {
	cursor  vterm.Cursor
	title   string
	alt     bool
	reverse bool
	palette *vterm.Palette
}

func (v *versions) start(rows int) {
	v.rowsAt = [2][]rowVersion{make([]rowVersion, rows), make([]rowVersion, rows)}
	v.dirty, v.resized, v.bothScreens = true, true, true
}

// Version grows with every visible change of a Frame.
func (e *Engine) Version() uint64 {
	e.sync()
	return e.version
}

// sync determines what has changed since the last sync.
func (e *Engine) sync() {
	if !e.dirty {
		return
	}
	next := e.version + 1
	now := e.shownState()
	changed := now != e.shown || e.resized
	if e.alt != now.alt {
		e.rowsAt[0], e.rowsAt[1] = e.rowsAt[1], e.rowsAt[0]
		e.alt, e.resized = now.alt, true
	}
	changed = e.compare(0, next) || changed
	if e.bothScreens {
		changed = e.compare(1, next) || changed
	}
	if changed {
		e.version = next
	}
	if e.resized {
		e.full = next
	}
	e.shown = now
	e.dirty, e.resized, e.bothScreens = false, false, false
}

func (e *Engine) shownState() frameState {
	c := e.cursor
	c.Row, c.Col, c.Pending = e.grid.cur.Y, e.grid.cur.X, e.grid.pendingWrap()
	return frameState{c, e.title, e.modes.AltScreen, e.modes.ReverseVideo, e.paletteNow()}
}

// compare stamps the rows of a screen that have changed.
func (e *Engine) compare(screen int, next uint64) (changed bool) {
	rows := e.grid.screen(screen == 1)
	at := e.rowsAt[screen]
	if len(at) != len(rows) {
		at = make([]rowVersion, len(rows))
		e.rowsAt[screen] = at
	}
	if cap(e.scratch) < e.cols {
		e.scratch = make([]vterm.Cell, 0, e.cols)
	}
	for y, row := range rows {
		cells, wrapped := appendCells(e.scratch[:0], row)
		if d := digest(cells, wrapped); d != at[y].digest || at[y].version == 0 {
			at[y] = rowVersion{d, next}
			changed = true
		}
	}
	return changed
}

// Frame fills f with the rows that changed after q.Since. The other screen is sent in full once the screens were
// switched.
func (e *Engine) Frame(f *vterm.Frame, q vterm.Query) {
	e.sync()
	alt := e.modes.AltScreen
	screen := bit(q.Screen == vterm.ScreenPrimary && alt || q.Screen == vterm.ScreenAlternate && !alt)
	f.Cols, f.Rows, f.Version = e.cols, e.rows, e.version
	f.Full = q.Since < e.full
	f.Alt, f.Title, f.Cursor = alt, e.title, e.shown.cursor
	f.Styles, f.Clusters, f.Links = clip(e.styles), clip(e.clusters), clip(e.links)
	f.Images, f.Palette = nil, e.paletteNow()
	e.fillLines(f, screen, q.Since)
}

func (e *Engine) fillLines(f *vterm.Frame, screen int, since uint64) {
	lines := f.Lines[:0]
	for y, row := range e.grid.screen(screen == 1) {
		at := e.rowsAt[screen][y].version
		if !f.Full && at <= since {
			continue
		}
		if len(lines) < cap(lines) {
			lines = lines[:len(lines)+1]
		} else {
			lines = append(lines, vterm.Line{})
		}
		l := &lines[len(lines)-1]
		cells, wrapped := appendCells(l.Cells[:0], row)
		*l = vterm.Line{Row: y, Version: at, Wrapped: wrapped, Cells: cells}
	}
	f.Lines = lines
	f.Full = f.Full || len(lines) == f.Rows
}

// clip returns a slice without spare capacity, so that the receiver's appends do not change this one's data.
func clip[T any](s []T) []T { return s[:len(s):len(s)] }

// appendCells appends cells for glyphs, without blank ones at the end. Halves of overwritten wide characters become
// blank.
func appendCells(dst []vterm.Cell, row []vt.Glyph) (cells []vterm.Cell, wrapped bool) {
	end := len(row)
	for end > 0 && row[end-1].BG == kindErased && row[end-1].FG == vt.DefaultFG {
		end--
	}
	for x := range row[:end] {
		g := &row[x]
		id := vterm.StyleID(0)
		if g.FG != vt.DefaultFG {
			id = vterm.StyleID(g.FG)
		}
		dst = append(dst, cellOf(g, id,
			x > 0 && isWide(row[x-1].BG), x+1 < len(row) && row[x+1].BG == kindTail))
	}
	return dst, row[len(row)-1].Mode&attrWrap != 0
}

func isWide(kind vt.Color) bool { return kind == kindWide || kind == kindWideCluster }

// cellOf converts a glyph to a cell; afterWide and beforeTail describe its neighbours.
func cellOf(g *vt.Glyph, id vterm.StyleID, afterWide, beforeTail bool) vterm.Cell {
	switch {
	case g.BG == kindNarrow:
		return vterm.NewCell(g.Char, vterm.WidthNarrow, id, 0)
	case g.BG == kindCluster:
		return vterm.NewCell(g.Char, vterm.WidthNarrow, id, vterm.CellCluster)
	case g.BG == kindHead:
		return vterm.NewCell(0, vterm.WidthHead, id, 0)
	case g.BG == kindTail && afterWide:
		return vterm.NewCell(0, vterm.WidthTail, id, 0)
	case g.BG == kindWide && beforeTail:
		return vterm.NewCell(g.Char, vterm.WidthWide, id, 0)
	case g.BG == kindWideCluster && beforeTail:
		return vterm.NewCell(g.Char, vterm.WidthWide, id, vterm.CellCluster)
	}
	return vterm.NewCell(0, vterm.WidthNarrow, id, 0)
}
