package vterm

// row is one line of a screen. It begins as a draft (draft.go) and has cells once somebody
// needs them. They are allocated then, so an empty screen costs nothing; all cells from
// used on are zero, and all are zero in a draft, so clearing is cheap.
type row struct {
	draft   draft  // its content, unless thawed
	cells   []Cell // length 0 or the screen's width
	used    int    // cells that may not be blank
	version uint64 // when it last changed
	rowMarks
}

// rowMarks are what clearing a row resets.
type rowMarks struct {
	thawed  bool // cells hold the content
	wrapped bool // soft wrap: the text goes on in the next row
	wide    bool // may hold wide characters: can be falsely set, never falsely clear
	image   bool // may hold image cells, likewise
	size    LineSize
}

// ensure gives a row that is empty or thawed its cells.
func (r *row) ensure(cols int) []Cell {
	r.thawed = true
	if len(r.cells) < cols {
		cells := make([]Cell, cols)
		copy(cells, r.cells)
		r.cells = cells
	}
	return r.cells
}

// clear empties the row; blank is what its cells become.
func (r *row) clear(blank Cell, cols int) {
	if r.thawed {
		clear(r.cells[:r.used])
	}
	r.reset()
	if blank == 0 {
		return
	}
	fillCells(r.ensure(cols)[:cols], blank)
	r.used = cols
}

// reset makes an empty draft of a row whose cells are blank.
func (r *row) reset() {
	r.draft.reset()
	r.used = 0
	r.rowMarks = rowMarks{}
}

// fill sets cells [from, to) and splits the wide characters at its edges.
func (r *row) fill(from, to int, blank Cell, cols int) {
	if from >= to {
		return
	}
	if blank == 0 {
		if to = min(to, r.used); from >= to {
			return
		}
	}
	r.split(from)
	r.split(to)
	fillCells(r.ensure(cols)[from:to], blank)
	r.trim(to, blank)
}

// shown is what can be seen of a row: the left half of a line of double width, whose
// right half stays and comes back when the line becomes normal again, as in xterm.
func (r *row) shown(cols int) []Cell {
	half := max(1, cols/2)
	if r.size == LineNormal || r.used <= half {
		return r.cells[:r.used]
	}
	if r.cells[half-1].Width() == WidthWide {
		half--
	}
	return r.cells[:half]
}

// trim keeps used right after cells up to end were set to blank.
func (r *row) trim(end int, blank Cell) {
	if blank != 0 {
		r.used = max(r.used, end)
		return
	}
	if end < r.used {
		return
	}
	for r.used > 0 && r.cells[r.used-1] == 0 {
		r.used--
	}
}

// split breaks the wide character that col would cut in two: both halves become blank.
func (r *row) split(col int) {
	if !r.wide || col <= 0 || col >= r.used || r.cells[col].Width() != WidthTail {
		return
	}
	r.cells[col-1] = blanked(r.cells[col-1])
	r.cells[col] = blanked(r.cells[col])
}

// blanked is a cell with its looks but without its content.
func blanked(c Cell) Cell { return Cell(c.Style()) << cellStyleShift }

func fillCells(cells []Cell, c Cell) {
	for i := range cells {
		cells[i] = c
	}
}

// shiftRight moves cells [col, end) by n to the right, dropping those pushed beyond end
// and filling the gap.
func (r *row) shiftRight(col, end, n int, blank Cell, cols int) {
	if n = min(n, end-col); n <= 0 {
		return
	}
	r.split(col)
	r.split(end - n)
	r.split(end)
	cells := r.ensure(cols)
	copy(cells[col+n:end], cells[col:end-n])
	fillCells(cells[col:col+n], blank)
	r.settle(end)
}

// shiftLeft moves cells [col+n, end) to col and fills what is left behind.
func (r *row) shiftLeft(col, end, n int, blank Cell, cols int) {
	if n = min(n, end-col); n <= 0 {
		return
	}
	r.split(col)
	r.split(col + n)
	r.split(end)
	cells := r.ensure(cols)
	copy(cells[col:end-n], cells[col+n:end])
	fillCells(cells[end-n:end], blank)
	r.settle(end)
}

// settle finds used again after cells up to end may have been set.
func (r *row) settle(end int) {
	r.used = max(r.used, end)
	r.trim(r.used, 0)
}

// put prints a character of w columns at col, in the looks of a pen: a cell without content.
func (r *row) put(col int, c rune, w int, pen Cell, cols int) {
	r.ensure(cols)
	r.split(col)
	r.split(col + w)
	if w == 2 {
		r.wide = true
		r.cells[col] = NewCell(c, WidthWide, 0, pen)
		r.cells[col+1] = NewCell(0, WidthTail, 0, pen)
	} else {
		r.cells[col] = pen | Cell(c)
	}
	r.used = max(r.used, col+w)
}

// putHeads leaves cells [col, end) to a wide character that wrapped.
func (r *row) putHeads(col, end int, blank Cell, cols int) {
	r.ensure(cols)
	for ; col < end; col++ {
		r.split(col)
		r.split(col + 1)
		r.cells[col] = NewCell(0, WidthHead, 0, blank)
		r.wide = true
		r.used = max(r.used, col+1)
	}
}

// putWide puts a cell at col with two columns instead of one.
func (r *row) putWide(col int, c Cell, cols int) {
	r.ensure(cols)
	r.split(col)
	r.split(col + 1)
	r.split(col + 2)
	r.wide = true
	r.cells[col] = c&^(3<<cellWidthShift) | WidthWide<<cellWidthShift
	r.cells[col+1] = NewCell(0, WidthTail, c.Style(), c&cellFlagsMask)
	r.used = max(r.used, col+2)
}

// narrow makes the wide character at col narrow.
func (r *row) narrow(col int, blank Cell) {
	r.cells[col] &^= 3 << cellWidthShift
	r.cells[col+1] = blank
}

// blank takes the content of cells [from, to) and leaves their looks; protected cells are spared
// when sparing is set.
func (r *row) blank(from, to int, sparing bool, cols int) {
	cells := r.ensure(cols)
	r.split(from)
	r.split(to)
	for col := from; col < to; col++ {
		if cells[col]&CellProtected == 0 || !sparing {
			cells[col] = blanked(cells[col])
		}
	}
	r.settle(to)
	r.mend(from, to)
}

// mend blanks what is left of wide characters that lost their other half in [from, to).
func (r *row) mend(from, to int) {
	for col := from; r.wide && col < to; col++ {
		switch r.cells[col].Width() {
		case WidthWide:
			if col+1 >= len(r.cells) || r.cells[col+1].Width() != WidthTail {
				r.cells[col] = blanked(r.cells[col])
			}
		case WidthTail:
			if col == 0 || r.cells[col-1].Width() != WidthWide {
				r.cells[col] = blanked(r.cells[col])
			}
		}
	}
}
