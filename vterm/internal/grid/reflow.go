package grid

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/internal/width"
)

// Cursor is where the next character goes.
type Cursor struct {
	Row, Col int
	Pending  bool // the last column was written, the wrap is due
}

// reflow re-wraps logical lines, given row by row, to another width. It loses nothing: wrapped rows are joined by their
// marks, whatever their width was.
type reflow struct {
	tables   *Tables
	cols     int
	keepWide bool // wide characters are kept on a screen of one column: scrollback rows are cropped when they are shown
	emit     func(*Row)

	line []Cell // current logical line; the caller calls begin, appends a row and calls end
	from int    // start of the last row in line
	open bool   // the last row was wrapped
	out  Row    // reused for every emitted row

	// Cursor: its position in line once its row was given, and then the emitted row and column.
	mark    int
	marked  bool
	emitted int
	row     int
	col     int
	pending bool
}

func (f *reflow) empty() bool { return !f.open && len(f.line) == 0 }

// begin must be called before a row is appended. A row of another size than normal is not joined with wrapped text
// before it, which becomes a separate line.
func (f *reflow) begin(size LineSize) {
	if size != LineNormal && !f.empty() {
		f.trim()
		f.breakLine(true, LineNormal)
	}
	f.from = len(f.line)
}

// setMark records that the cursor is at col of the row about to be appended, after it if its wrap is pending.
func (f *reflow) setMark(c Cursor) {
	f.mark, f.marked = len(f.line)+c.Col, true
	if c.Pending {
		f.mark++
	}
	f.pending = c.Pending
}

// end must be called after a row was appended.
func (f *reflow) end(wrapped bool, size LineSize) {
	blankHeads(f.line[f.from:], wrapped)
	if n := len(f.line); f.cols > 1 && n > 0 {
		f.line = widenSqueezed(f.tables, f.line)
	}
	if f.open = wrapped && size == LineNormal; f.open {
		for n := len(f.line); n > 0 && f.line[n-1].Width() == WidthHead; n-- {
			f.line = f.line[:n-1]
		}
		return
	}
	if size == LineNormal {
		f.trim()
	}
	f.breakLine(wrapped, size)
}

// blankHeads blanks columns that were left free for a wide character which no longer follows them.
func blankHeads(row []Cell, wrapped bool) {
	n := len(row)
	for wrapped && n > 0 && row[n-1].Width() == WidthHead {
		n--
	}
	for i, c := range row[:n] {
		if c.Width() == WidthHead {
			row[i] = blankOf(c)
		}
	}
}

// trim removes blanks at the end of the line, but not before the cursor. A wrapped row keeps its blanks, so that text
// of later rows does not move.
func (f *reflow) trim() {
	n := len(f.line)
	for n > 0 && f.line[n-1] == 0 && (!f.marked || n > f.mark) {
		n--
	}
	f.line = f.line[:n]
}

// finish emits the pending line. wrapped reports whether it continues after all given rows.
func (f *reflow) finish(wrapped bool) {
	if !f.empty() {
		f.breakLine(wrapped, LineNormal)
	}
}

func (f *reflow) breakLine(wrapped bool, size LineSize) {
	if f.cols == 1 && !f.keepWide {
		f.squeeze()
	}
	line, limit := f.line, f.cols
	if size != LineNormal { // never broken, and as it is as wide as half a screen, cut
		limit = max(1, f.cols/2)
	}
	for from := 0; ; {
		n := min(len(line)-from, limit)
		head := false
		if f.keepWide && n == 1 && from+1 < len(line) && line[from+1].Width() == WidthTail {
			n = 2
		} else if from+n < len(line) && line[from+n].Width() == WidthTail && (n > 1 || size != LineNormal) {
			n--
			head = size == LineNormal
		}
		last := from+n >= len(line) || size != LineNormal
		head = head || last && wrapped && size == LineNormal && n > 0 && n == limit-1 // a wide character follows
		f.place(from, n, last)
		f.emitRow(line[from:from+n], head, !last || wrapped, size)
		if from += n; last {
			break
		}
	}
	f.line, f.open = line[:0], false
}

// squeeze makes wide characters narrow for a screen of one column, which has no space for pairs. widenSqueezed undoes
// it.
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

// widenSqueezed restores the second column of squeezed wide characters.
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

// place sets the cursor if it is in the row about to be emitted.
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
	n := max(f.cols, len(cells))
	r.Cells = slices.Grow(r.Cells[:0], n)[:n]
	clear(r.Cells[copy(r.Cells, cells):])
	r.Inflated = true
	r.Used, r.Wrapped, r.Size = len(cells), wrapped, size
	if head {
		r.Cells[len(cells)] = NewCell(0, WidthHead, 0, 0)
		r.Used++
	}
	r.updateFlags()
	f.emitted++
	f.emit(r)
}

// updateFlags sets the flags that describe the row's cells.
func (r *Row) updateFlags() {
	if !r.Wrapped {
		r.trim(r.Used, 0)
	}
	all := union(r.Cells[:r.Used])
	r.Wide, r.Image = all.Width() != 0, all&CellImage != 0
}
