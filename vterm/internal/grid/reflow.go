package grid

import (
	"strings"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/internal/width"
)

// Cursor is where the next character goes.
type Cursor struct {
	Row, Col int
	Pending  bool // the last column was written, the wrap is due
}

// reflow breaks logical lines, given row by row, into rows of another width. Nothing is
// lost: rows that were wrapped are joined by their marks, whatever width they had.
type reflow struct {
	tables *Tables
	cols   int
	emit   func(*Row)

	line []Cell // the logical line so far; the caller appends a row and calls end
	open bool   // its last row was wrapped
	out  Row    // reused for every row emitted

	// The cursor, once its row was given: where it stands in the line, and then in
	// which emitted row and column.
	mark    int
	marked  bool
	emitted int
	row     int
	col     int
	pending bool
}

func (f *reflow) empty() bool { return !f.open && len(f.line) == 0 }

// setMark notes that the cursor stands at col of the row that is about to be appended,
// behind it when its wrap is pending.
func (f *reflow) setMark(c Cursor) {
	f.mark, f.marked = len(f.line)+c.Col, true
	if c.Pending {
		f.mark++
	}
	f.pending = c.Pending
}

// end ends the row that was appended to line.
func (f *reflow) end(wrapped bool, size LineSize) {
	if n := len(f.line); f.cols > 1 && n > 0 {
		f.line = widenSqueezed(f.tables, f.line)
	}
	if f.open = wrapped; wrapped {
		for n := len(f.line); n > 0 && f.line[n-1].Width() == WidthHead; n-- {
			f.line = f.line[:n-1]
		}
		return
	}
	f.breakLine(false, size)
}

// finish emits a line whose last row was wrapped; wrapped says whether it goes on after
// all that was given.
func (f *reflow) finish(wrapped bool) {
	if !f.empty() {
		f.breakLine(wrapped, LineNormal)
	}
}

func (f *reflow) breakLine(wrapped bool, size LineSize) {
	if f.cols == 1 {
		f.squeeze()
	}
	line, limit := f.line, f.cols
	if size != LineNormal { // never broken, and as it is as wide as half a screen, cut
		limit = max(1, f.cols/2)
	}
	for from := 0; ; {
		n := min(len(line)-from, limit)
		head := false
		if from+n < len(line) && line[from+n].Width() == WidthTail && (n > 1 || size != LineNormal) {
			n--
			head = size == LineNormal
		}
		last := from+n >= len(line) || size != LineNormal
		f.place(from, n, last)
		f.emitRow(line[from:from+n], head, !last || wrapped, size)
		if from += n; last {
			break
		}
	}
	f.line, f.open = line[:0], false
}

// squeeze makes wide characters narrow, for a screen of one column, where there is no room
// for a pair; widenLast undoes it.
func (f *reflow) squeeze() {
	out := f.line[:0]
	for i, c := range f.line {
		if c.Width() == WidthTail {
			if i < f.mark {
				f.mark--
			}
			continue
		}
		out = append(out, c&^(3<<cellWidthShift))
	}
	f.line = out
}

// widenSqueezed gives a wide character that was squeezed its second column back.
func widenSqueezed(tb *Tables, line []Cell) []Cell {
	c := line[len(line)-1]
	if c.Width() != WidthNarrow || c.Blank() || c&CellImage != 0 {
		return line
	}
	r := c.Rune()
	if c&CellCluster != 0 {
		r, _ = utf8.DecodeRuneInString(tb.Clusters.List[c.Content()])
	}
	if width.Of(r).Columns() < 2 || c&CellCluster != 0 && strings.ContainsRune(tb.Clusters.List[c.Content()], TextVariation) {
		return line
	}
	line[len(line)-1] = c | WidthWide<<cellWidthShift
	return append(line, NewCell(0, WidthTail, c.Style(), c&FlagsMask))
}

// place finds the cursor when it stands in the row about to be emitted.
func (f *reflow) place(from, n int, last bool) {
	if !f.marked || f.mark >= from+n && !last {
		return
	}
	f.marked = false
	f.row, f.col = f.emitted, f.mark-from
	// Right behind a line that is just full, the wrap is pending.
	f.pending = f.col == f.cols && f.mark == from+n
	f.col = min(f.col, f.cols-1)
}

func (f *reflow) emitRow(cells []Cell, head, wrapped bool, size LineSize) {
	r := &f.out
	clear(r.Cells[:r.Used])
	r.Ensure(f.cols)
	copy(r.Cells, cells)
	r.Used, r.Wrapped, r.Size = len(cells), wrapped, size
	if head {
		r.Cells[len(cells)] = NewCell(0, WidthHead, 0, 0)
		r.Used++
	}
	r.survey()
	f.emitted++
	f.emit(r)
}

// survey sets what a row knows of its cells.
func (r *Row) survey() {
	r.trim(r.Used, 0)
	all := union(r.Cells[:r.Used])
	r.Wide, r.Image = all.Width() != 0, all&CellImage != 0
}
