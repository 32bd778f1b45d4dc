package vterm

import (
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/internal/grid"
	"github.com/longterm-dev/longterm/vterm/internal/width"
)

// textState describes the text directly before the cursor.
type textState struct {
	// simple is set if ASCII can go to the grid unchanged: no insert mode, no character set but ASCII.
	simple   bool
	lastRune rune        // last printed character, for REP
	join     width.State // grapheme state of the character left of the cursor; 0: unknown
	before   width.State // join as it was before the current sequence
}

// printMapped prints a character after mapping it by the active character set.
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

// print puts a character on the screen, or joins it to the previous one.
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
		t.join, t.lastRune = width.Start(p), 0 // REP repeats nothing printed before a control function
	} else {
		s, joined := width.Step(t.join, p)
		t.join = s
		if joined {
			t.combine(r)
			return
		}
	}
	w := t.columns(p)
	if w == 0 { // it has no cell: no later character joins it
		t.join = width.Start(width.Of('\u200b')) // as after a format character
		return
	}
	t.place(r, w)
}

// columns returns the width of a character that starts a cluster.
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
	if t.cur.Pending && t.modes&modeAutowrap != 0 {
		t.wrap()
	}
	line := t.scr.Raw(t.cur.Row)
	end := t.lineEnd(line)
	if w == 2 && t.cur.Col+2 > end {
		if !t.wrapWide(line, end) {
			return
		}
		line = t.scr.Raw(t.cur.Row)
		end = t.lineEnd(line)
	}
	line.Version = t.tables.Version
	col := t.cur.Col
	if t.canAppend(line, col) && t.modes&modeInsert == 0 {
		line.Begin(&t.tables, col, t.cell.Style())
		line.AppendRune(r, w)
		t.advance(line, col+w, end)
		return
	}
	line = t.scr.MutableRow(t.cur.Row)
	if t.inserts(col) {
		line.ShiftRight(col, end, w, t.blankCell(), t.cols)
	}
	line.Put(col, r, w, t.cell, t.cols)
	t.advance(line, col+w, end)
}

// inserts reports whether printing at col moves the following characters: in insert mode (IRM) and, like ICH, between
// the margins only.
func (p *page) inserts(col int) bool {
	return p.modes&modeInsert != 0 && p.left <= col && col <= p.right
}

// advance moves the cursor past the printed text.
func (p *page) advance(line *grid.Row, col, end int) {
	p.cur.Pending = col >= end
	p.cur.Col = min(col, end-1)
	if p.cur.Pending {
		line.Wrapped = false
	}
}

// wrapWide makes room on the next line for a wide character that does not fit. It returns false if the character cannot
// be shown at all.
func (t *Terminal) wrapWide(line *grid.Row, end int) bool {
	if t.modes&modeAutowrap == 0 || t.right-t.left < 1 {
		return false
	}
	line.Version = t.tables.Version
	if t.canAppend(line, t.cur.Col) {
		line.Begin(&t.tables, t.cur.Col, t.blankCell().Style())
		for line.Used < end {
			line.AppendHead()
		}
		t.wrap()
		return true
	}
	line = t.scr.MutableRow(t.cur.Row)
	line.PutHeads(t.cur.Col, end, t.blankCell(), t.cols)
	t.wrap()
	return true
}

// combine adds a character to the cell before the cursor.
func (t *Terminal) combine(r rune) {
	if t.combinePacked(t.scr.Raw(t.cur.Row), r) {
		return
	}
	line := t.scr.At(t.cur.Row)
	col := t.cur.Col
	if !t.cur.Pending {
		col--
	}
	if col < 0 {
		return
	}
	cells := line.Ensure(t.cols) // a blank takes a mark wherever it is, as in xterm
	if cells[col].Width() == WidthTail {
		col--
	}
	c := cells[col]
	if c&CellImage != 0 {
		return
	}
	if c.Blank() {
		if c.Width() != WidthNarrow {
			return
		}
		c |= ' '
	}
	line.Version = t.tables.Version
	cells[col] = t.tables.Extend(c, r)
	line.Used = max(line.Used, col+1)
	t.rewidth(line, col, r)
}

// combinePacked is combine for the last character of a packed row. It returns false if the row is not packed, if
// another character is before the cursor, or if cells are needed.
func (t *Terminal) combinePacked(r *grid.Row, c rune) bool {
	end := t.cur.Col + boolInt(t.cur.Pending)
	if r.Inflated || r.Used == 0 || r.Used != end {
		return false
	}
	grows := 0
	if t.modes&modeGraphemes != 0 {
		grows = r.Packed.Variation(c)
	}
	if grows < 0 || grows > 0 && (t.cur.Pending || end+1 > t.lineEnd(r) || t.modes&modeInsert != 0) {
		return false
	}
	if !r.Packed.Extend(c) {
		return false
	}
	r.Version = t.tables.Version
	if grows > 0 {
		r.WidenLast()
		t.advance(r, end+1, t.lineEnd(r))
	}
	return true
}

// rewidth changes the width of the cluster at col after a variation selector.
func (t *Terminal) rewidth(line *grid.Row, col int, r rune) {
	if r != grid.EmojiVariation && r != grid.TextVariation || t.modes&modeGraphemes == 0 {
		return
	}
	c := line.Cells[col]
	first, _ := utf8.DecodeRuneInString(t.tables.Clusters.List[c.Content()])
	if c&CellCluster == 0 || !width.Of(first).HasVariations() {
		return
	}
	switch {
	case r == grid.EmojiVariation && c.Width() == WidthNarrow:
		t.widen(line, col)
	case r == grid.TextVariation && c.Width() == WidthWide && !t.cur.Pending && t.cur.Col == col+2:
		line.Narrow(col, t.blankCell())
		t.cur.Col--
	case r == grid.TextVariation && c.Width() == WidthWide && t.cur.Pending && t.cur.Col == col+1:
		line.Narrow(col, t.blankCell())
		t.cur.Pending = false
	}
}

// widen makes the narrow cluster at col, just before the cursor, two columns wide.
func (t *Terminal) widen(line *grid.Row, col int) {
	end := t.lineEnd(line)
	c := line.Cells[col]
	if col+2 > end {
		if t.modes&modeAutowrap == 0 || t.right-t.left < 1 {
			return
		}
		line.Cells[col] = NewCell(0, WidthHead, 0, t.blankCell())
		line.Wide = true
		t.cur.Col = col
		t.wrap()
		line, col = t.scr.MutableRow(t.cur.Row), t.cur.Col
		end = t.lineEnd(line)
	}
	if t.inserts(col) {
		line.ShiftRight(col+1, end, 1, t.blankCell(), t.cols)
	}
	line.PutWide(col, c, t.cols)
	t.advance(line, col+2, end)
}
