package vterm

import (
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/internal/width"
)

// printMapped prints a character after the character set in use has had its say.
func (t *Terminal) printMapped(r rune) {
	if t.penStale {
		t.freshenPen()
	}
	if r < 0x80 {
		r = t.charsets.translate(r)
	} else if t.charsets.single != 0 {
		t.charsets.single = 0
		t.updateSimple()
	}
	t.print(r)
}

// print puts a character on the screen or joins it to the one before.
func (t *Terminal) print(r rune) {
	p := width.Of(r)
	if t.modes&modeGraphemes == 0 {
		if t.columns(p) == 0 {
			t.combine(r)
			return
		}
		t.join = width.Plain
	} else if t.join == 0 {
		if p.Columns() == 0 && p.Joins() { // a mark, but no control or format character
			if _, joined := width.Step(width.Plain, p); joined {
				t.combine(r)
				return
			}
		}
		t.join = width.Start(p)
	} else {
		s, joined := width.Step(t.join, p)
		t.join = s
		if joined {
			t.combine(r)
			return
		}
	}
	if w := t.columns(p); w > 0 {
		t.place(r, w)
	}
}

// columns is the width of a character that starts a cluster.
func (t *Terminal) columns(p width.Props) int {
	w := p.Columns()
	switch {
	case w == 1 && p.Ambiguous() && t.opts.AmbiguousWide:
		return 2
	case w == 1 && p.Regional() && t.modes&modeGraphemes != 0:
		return 2 // half a flag is drawn as a letter in a box
	}
	return w
}

// place writes a character of one or two columns at the cursor.
func (t *Terminal) place(r rune, w int) {
	t.lastRune = r
	if t.cur.pending && t.modes&modeAutowrap != 0 {
		t.wrap()
	}
	line := t.scr.raw(t.cur.row)
	end := t.lineEnd(line)
	if w == 2 && t.cur.col+2 > end {
		if !t.wrapWide(line, end) {
			return
		}
		line = t.scr.raw(t.cur.row)
		end = t.lineEnd(line)
	}
	line.version = t.tables.version
	col := t.cur.col
	if t.drafts(line, col) && t.modes&modeInsert == 0 {
		line.begin(&t.tables, col, t.cell.Style())
		line.appendRune(r, w)
		t.advance(line, col+w, end)
		return
	}
	line = t.scr.stamped(t.cur.row)
	if t.inserts(col) {
		line.shiftRight(col, end, w, t.erased(), t.cols)
	}
	line.put(col, r, w, t.cell, t.cols)
	t.advance(line, col+w, end)
}

// inserts reports whether a character printed at col moves those behind it: in insert mode
// (IRM) and, like ICH, between the margins only.
func (t *Terminal) inserts(col int) bool {
	return t.modes&modeInsert != 0 && t.left <= col && col <= t.right
}

// advance moves the cursor behind what was printed.
func (t *Terminal) advance(line *row, col, end int) {
	t.cur.pending = col >= end
	t.cur.col = min(col, end-1)
	if t.cur.pending {
		line.wrapped = false
	}
}

// wrapWide makes room on the next line for a wide character that does not fit. It
// returns false when the character cannot be shown at all.
func (t *Terminal) wrapWide(line *row, end int) bool {
	if t.modes&modeAutowrap == 0 || t.right-t.left < 1 {
		return false
	}
	line.version = t.tables.version
	if t.drafts(line, t.cur.col) {
		line.begin(&t.tables, t.cur.col, t.erased().Style())
		for line.used < end {
			line.appendHead()
		}
		t.wrap()
		return true
	}
	line = t.scr.stamped(t.cur.row)
	line.putHeads(t.cur.col, end, t.erased(), t.cols)
	t.wrap()
	return true
}

// combine adds a character to the cell before the cursor.
func (t *Terminal) combine(r rune) {
	if t.combineDraft(t.scr.raw(t.cur.row), r) {
		return
	}
	line := t.scr.at(t.cur.row)
	col := t.cur.col
	if !t.cur.pending {
		col--
	}
	if col >= 0 && col < line.used && line.cells[col].Width() == WidthTail {
		col--
	}
	if col < 0 || col >= line.used || line.cells[col]&CellImage != 0 {
		return
	}
	c := line.cells[col]
	if c.Blank() {
		if c.Width() != WidthNarrow {
			return
		}
		c |= ' '
	}
	line.version = t.tables.version
	line.cells[col] = t.tables.extended(c, r)
	t.rewidth(line, col, r)
}

// combineDraft is combine for the last character of a draft. It returns false when the row
// is none, when the character before the cursor is another, or when it takes cells to do it.
func (t *Terminal) combineDraft(r *row, c rune) bool {
	end := t.cur.col + boolInt(t.cur.pending)
	if r.thawed || r.used == 0 || r.used != end {
		return false
	}
	grows := 0
	if t.modes&modeGraphemes != 0 {
		grows = r.draft.variation(c)
	}
	if grows < 0 || grows > 0 && (t.cur.pending || end+1 > t.lineEnd(r) || t.modes&modeInsert != 0) {
		return false
	}
	if !r.draft.extend(c) {
		return false
	}
	r.version = t.tables.version
	if grows > 0 {
		r.widenLast()
		t.advance(r, end+1, t.lineEnd(r))
	}
	return true
}

// rewidth changes the width of the cluster at col when a variation selector asks for it.
func (t *Terminal) rewidth(line *row, col int, r rune) {
	if r != emojiPresentation && r != textPresentation || t.modes&modeGraphemes == 0 {
		return
	}
	c := line.cells[col]
	first, _ := utf8.DecodeRuneInString(t.tables.clusters.list[c.Content()])
	if c&CellCluster == 0 || !width.Of(first).HasVariations() {
		return
	}
	switch {
	case r == emojiPresentation && c.Width() == WidthNarrow:
		t.widen(line, col)
	case r == textPresentation && c.Width() == WidthWide && !t.cur.pending && t.cur.col == col+2:
		line.narrow(col, t.erased())
		t.cur.col--
	case r == textPresentation && c.Width() == WidthWide && t.cur.pending && t.cur.col == col+1:
		line.narrow(col, t.erased())
		t.cur.pending = false
	}
}

// widen makes the narrow cluster at col, just before the cursor, two columns wide.
func (t *Terminal) widen(line *row, col int) {
	end := t.lineEnd(line)
	c := line.cells[col]
	if col+2 > end {
		if t.modes&modeAutowrap == 0 || t.right-t.left < 1 {
			return
		}
		line.cells[col] = NewCell(0, WidthHead, 0, t.erased())
		line.wide = true
		t.cur.col = col
		t.wrap()
		line, col = t.scr.stamped(t.cur.row), t.cur.col
		end = t.lineEnd(line)
	}
	if t.inserts(col) {
		line.shiftRight(col+1, end, 1, t.erased(), t.cols)
	}
	line.putWide(col, c, t.cols)
	t.advance(line, col+2, end)
}
