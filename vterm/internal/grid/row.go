package grid

// Row is a line of a screen. It starts packed (packed.go) and gets cells when they are needed, so an empty screen costs
// nothing. Cells from Used on are zero, and all are zero in a packed row, so clearing is cheap.
type Row struct {
	Packed  Packed // content, unless inflated
	Cells   []Cell // length 0 or the screen's width
	Used    int    // cells that may not be blank
	Version uint64 // when it last changed
	Marks
}

// Marks are the properties that clearing a row resets.
type Marks struct {
	Inflated bool // cells hold the content
	Wrapped  bool // soft wrap: the text continues in the next row
	Wide     bool // may contain wide characters: may be set falsely, never cleared falsely
	Image    bool // may contain image cells, likewise
	Size     LineSize
}

// Ensure allocates the cells of a row that is empty or inflated.
func (r *Row) Ensure(cols int) []Cell {
	r.Inflated = true
	if len(r.Cells) < cols {
		cells := make([]Cell, cols)
		copy(cells, r.Cells)
		r.Cells = cells
	}
	return r.Cells
}

// Clear empties the row; blank is what its cells become.
func (r *Row) Clear(blank Cell, cols int) {
	if r.Inflated {
		clear(r.Cells[:r.Used])
	}
	r.reset()
	if blank == 0 {
		return
	}
	fillCells(r.Ensure(cols)[:cols], blank)
	r.Used = cols
}

// reset turns a row with blank cells into an empty packed row.
func (r *Row) reset() {
	r.Packed.reset()
	r.Used = 0
	r.Marks = Marks{}
}

// Fill sets cells [from, to) and splits the wide characters at its edges.
func (r *Row) Fill(from, to int, blank Cell, cols int) {
	if from >= to {
		return
	}
	if blank == 0 {
		if to = min(to, r.Used); from >= to {
			return
		}
	}
	r.split(from)
	r.split(to)
	fillCells(r.Ensure(cols)[from:to], blank)
	r.trim(to, blank)
}

// visibleCells returns the visible cells of a row.
func (r *Row) visibleCells(cols int) []Cell { return visibleCells(r.Cells[:r.Used], r.Size, cols) }

// visibleCells returns the visible cells of a row: for a line of double width its left half. The right half stays and
// reappears when the line becomes normal again, as in xterm.
func visibleCells(cells []Cell, size LineSize, cols int) []Cell {
	half := max(1, cols/2)
	if size == LineNormal || len(cells) <= half {
		return cells
	}
	if cells[half-1].Width() == WidthWide {
		half--
	}
	return cells[:half]
}

// trim updates Used after cells up to end were set to blank.
func (r *Row) trim(end int, blank Cell) {
	if blank != 0 {
		r.Used = max(r.Used, end)
		return
	}
	if end < r.Used {
		return
	}
	for r.Used > 0 && r.Cells[r.Used-1] == 0 {
		r.Used--
	}
}

// split blanks both halves of a wide character that crosses col.
func (r *Row) split(col int) {
	if !r.Wide || col <= 0 || col >= r.Used || r.Cells[col].Width() != WidthTail {
		return
	}
	r.Cells[col-1] = blankOf(r.Cells[col-1])
	r.Cells[col] = blankOf(r.Cells[col])
}

// blankOf returns a cell with its style but without its content.
func blankOf(c Cell) Cell { return Cell(c.Style()) << CellStyleShift }

func fillCells(cells []Cell, c Cell) {
	for len(cells) >= 8 {
		d := cells[:8:8]
		d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7] = c, c, c, c, c, c, c, c
		cells = cells[8:]
	}
	for i := range cells {
		cells[i] = c
	}
}

// ShiftRight moves cells [col, end) by n to the right, dropping those pushed beyond end
// and filling the gap.
func (r *Row) ShiftRight(col, end, n int, blank Cell, cols int) {
	if n = min(n, end-col); n <= 0 {
		return
	}
	r.split(col)
	r.split(end - n)
	r.split(end)
	cells := r.Ensure(cols)
	copy(cells[col+n:end], cells[col:end-n])
	fillCells(cells[col:col+n], blank)
	r.Recount(end)
}

// shiftLeft moves cells [col+n, end) to col and fills the freed cells.
func (r *Row) shiftLeft(col, end, n int, blank Cell, cols int) {
	if n = min(n, end-col); n <= 0 {
		return
	}
	r.split(col)
	r.split(col + n)
	r.split(end)
	cells := r.Ensure(cols)
	copy(cells[col:end-n], cells[col+n:end])
	fillCells(cells[end-n:end], blank)
	r.Recount(end)
}

// Recount updates Used after cells up to end may have been set.
func (r *Row) Recount(end int) {
	r.Used = max(r.Used, end)
	r.trim(r.Used, 0)
}

// Put prints a character of w columns at col, in the style of pen, a cell without content.
func (r *Row) Put(col int, c rune, w int, pen Cell, cols int) {
	r.Ensure(cols)
	r.split(col)
	r.split(col + w)
	if w == 2 {
		r.Wide = true
		r.Cells[col] = NewCell(c, WidthWide, 0, pen)
		r.Cells[col+1] = NewCell(0, WidthTail, 0, pen)
	} else {
		r.Cells[col] = pen | Cell(c)
	}
	r.Used = max(r.Used, col+w)
}

// PutHeads fills cells [col, end) before a wide character that wrapped.
func (r *Row) PutHeads(col, end int, blank Cell, cols int) {
	r.Ensure(cols)
	for ; col < end; col++ {
		r.split(col)
		r.split(col + 1)
		r.Cells[col] = NewCell(0, WidthHead, 0, blank)
		r.Wide = true
		r.Used = max(r.Used, col+1)
	}
}

// PutWide replaces the cell at col by a wide cell of two columns.
func (r *Row) PutWide(col int, c Cell, cols int) {
	r.Ensure(cols)
	r.split(col)
	r.split(col + 1)
	r.split(col + 2)
	r.Wide = true
	r.Cells[col] = c&^(3<<cellWidthShift) | WidthWide<<cellWidthShift
	r.Cells[col+1] = NewCell(0, WidthTail, c.Style(), c&FlagsMask)
	r.Used = max(r.Used, col+2)
}

// Narrow makes the wide character at col narrow.
func (r *Row) Narrow(col int, blank Cell) {
	r.Cells[col] &^= 3 << cellWidthShift
	r.Cells[col+1] = blank
}

// Blank removes the content of cells [from, to) but not their style. If sparing is set, protected cells are unchanged.
func (r *Row) Blank(from, to int, sparing bool, cols int) {
	cells := r.Ensure(cols)
	r.split(from)
	r.split(to)
	for col := from; col < to; col++ {
		if cells[col]&CellProtected == 0 || !sparing {
			cells[col] = blankOf(cells[col])
		}
	}
	r.Recount(to)
	r.repair(from, to)
}

// repair blanks halves of wide characters that lost their other half in [from, to).
func (r *Row) repair(from, to int) {
	for col := from; r.Wide && col < to; col++ {
		switch r.Cells[col].Width() {
		case WidthWide:
			if col+1 >= len(r.Cells) || r.Cells[col+1].Width() != WidthTail {
				r.Cells[col] = blankOf(r.Cells[col])
			}
		case WidthTail:
			if col == 0 || r.Cells[col-1].Width() != WidthWide {
				r.Cells[col] = blankOf(r.Cells[col])
			}
		}
	}
}
