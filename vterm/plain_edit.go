package vterm

import (
	"slices"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/internal/width"
)

const (
	// plainWindow is how many columns at the end of a line can still be changed, at
	// least; it is wider than any terminal is.
	plainWindow = 4096
	// plainReach is how far the cursor can be moved beyond the text, so that a few
	// bytes cannot ask for much.
	plainReach = 1024
	// plainCluster bounds the bytes of a character with its combining marks.
	plainCluster = 64
)

// plainCell is a column: a code point, or an index into plainEdit.clusters.
type plainCell uint32

const (
	plainTail     plainCell = 1 << 31 // second column of a wide character
	plainWide     plainCell = 1 << 30 // first column of one
	plainMany     plainCell = 1 << 29 // content is an index into clusters
	plainSkip     plainCell = 1 << 28 // column that a tab passed, after the first, which is '\t'
	plainContents plainCell = 1<<21 - 1
)

// plainEdit is the line being written: text that is final, then a window of columns.
type plainEdit struct {
	final    []byte
	cells    []plainCell
	clusters []string // of cells with plainMany
	col      int      // of the cursor in the window; may lie beyond its end
	before   int      // columns that are final, modulo the distance of tab stops
}

func (e *plainEdit) clear() {
	e.final, e.cells, e.clusters, e.col, e.before = e.final[:0], e.cells[:0], e.clusters[:0], 0, 0
	if cap(e.final) > plainKeep {
		e.final = nil
	}
	if cap(e.cells) > plainReach {
		e.cells = nil
	}
	if cap(e.clusters) > plainReach {
		e.clusters = nil
	}
}

func (e *plainEdit) appendText(dst []byte) []byte {
	return e.appendCells(append(dst, e.final...), e.cells)
}

func (e *plainEdit) appendCells(dst []byte, cells []plainCell) []byte {
	for _, c := range cells {
		switch {
		case c < utf8.RuneSelf:
			dst = append(dst, byte(c))
		case c&(plainTail|plainSkip) != 0:
		case c&plainMany != 0:
			dst = append(dst, e.clusters[c&plainContents]...)
		default:
			dst = utf8.AppendRune(dst, rune(c&plainContents))
		}
	}
	return dst
}

// settle makes the older half of a full window final.
func (e *plainEdit) settle() {
	n := plainWindow
	for n < len(e.cells) && e.cells[n]&(plainTail|plainSkip) != 0 {
		n++
	}
	e.before = (e.before + n) % plainTabColumns
	e.final = e.appendCells(e.final, e.cells[:n])
	e.cells = e.cells[:copy(e.cells, e.cells[n:])]
	e.col = max(e.col-n, 0)
	e.keepClusters()
}

// keepClusters forgets the clusters that no cell refers to.
func (e *plainEdit) keepClusters() {
	if len(e.clusters) == 0 {
		return
	}
	var kept []string
	for i, c := range e.cells {
		if c&plainMany != 0 {
			e.cells[i] = c&^plainContents | plainCell(len(kept))
			kept = append(kept, e.clusters[c&plainContents])
		}
	}
	e.clusters = kept
}

// full reports whether the window must be settled.
func (e *plainEdit) full() bool { return len(e.cells) >= 2*plainWindow }

// ascii writes printable ASCII, at most as much as fills the window, and says how much.
func (e *plainEdit) ascii(b []byte) int {
	e.pad()
	n := min(len(b), 2*plainWindow-e.col)
	e.halve(e.col)
	e.halve(e.col + n)
	if grow := e.col + n - len(e.cells); grow > 0 {
		e.cells = slices.Grow(e.cells, grow)[:e.col+n]
	}
	dst := e.cells[e.col : e.col+n]
	for i := range dst {
		dst[i] = plainCell(b[i])
	}
	e.col += n
	return n
}

// print writes one character.
func (e *plainEdit) print(r rune) {
	cols := width.Of(r).Columns()
	if cols == 0 {
		e.combine(r)
		return
	}
	e.pad()
	e.halve(e.col)
	e.halve(e.col + cols)
	c := plainCell(r)
	if cols == 2 {
		c |= plainWide
	}
	e.put(c)
	if cols == 2 {
		e.put(plainTail)
	}
}

func (e *plainEdit) put(c plainCell) {
	if e.col == len(e.cells) {
		e.cells = append(e.cells, c)
	} else {
		e.cells[e.col] = c
	}
	e.col++
}

// pad fills the columns up to the cursor.
func (e *plainEdit) pad() {
	for len(e.cells) < e.col {
		e.cells = append(e.cells, ' ')
	}
}

// halve blanks the wide character or the tab that col would cut in two.
func (e *plainEdit) halve(col int) {
	switch {
	case col <= 0 || col >= len(e.cells):
	case e.cells[col]&plainTail != 0:
		e.cells[col-1], e.cells[col] = ' ', ' '
	case e.cells[col]&plainSkip != 0:
		e.blankTab(col)
	}
}

// tab is HT. At the end of the text it is text: who reads a Makefile back wants the tab that was printed. Over text that
// is there already it only moves, as on a screen.
func (e *plainEdit) tab() {
	stop := ((e.before+e.col)/plainTabColumns+1)*plainTabColumns - e.before
	if e.col < len(e.cells) || stop > 2*plainWindow {
		e.move(stop)
		return
	}
	e.pad()
	e.put('\t')
	for e.col < stop {
		e.put(plainSkip)
	}
}

// blankTab makes blanks of the tab that passed col. Behind the text it leaves none after col: nothing was printed there.
func (e *plainEdit) blankTab(col int) {
	from, to := col, col
	for e.cells[from]&plainSkip != 0 {
		from--
	}
	for to < len(e.cells) && e.cells[to]&plainSkip != 0 {
		to++
	}
	if to == len(e.cells) {
		e.cells, to = e.cells[:col], col
	}
	for i := from; i < to; i++ {
		e.cells[i] = ' '
	}
}

// blankTabs makes blanks of all tabs from the cursor on, which are about to be shifted off the stops.
func (e *plainEdit) blankTabs() {
	for i := e.col; i < len(e.cells); i++ {
		if c := e.cells[i]; c == '\t' || c&plainSkip != 0 {
			e.cells[i] = ' '
		}
	}
}

// combine adds a zero-width character to the one before the cursor, if there is one.
func (e *plainEdit) combine(r rune) {
	i := e.col - 1
	if i > 0 && i < len(e.cells) && e.cells[i]&plainTail != 0 {
		i--
	}
	if i < 0 || i >= len(e.cells) {
		return
	}
	c := e.cells[i]
	if c == '\t' || c&plainSkip != 0 {
		return
	}
	text := utf8.AppendRune(e.appendCells(nil, []plainCell{c}), r)
	if len(text) > plainCluster {
		return
	}
	if c&plainMany != 0 {
		e.clusters[c&plainContents] = string(text)
		return
	}
	if len(e.clusters) > 4*plainWindow {
		e.keepClusters()
	}
	e.cells[i] = c&plainWide | plainMany | plainCell(len(e.clusters))
	e.clusters = append(e.clusters, string(text))
}

// move puts the cursor on a column.
func (e *plainEdit) move(col int) {
	e.col = min(max(col, 0), max(len(e.cells)+plainTabColumns, plainReach), 2*plainWindow-2)
}

// erase blanks columns; those at the end cease to be.
func (e *plainEdit) erase(from, to int) {
	e.halve(from)
	e.halve(to)
	from = min(from, len(e.cells))
	to = min(to, len(e.cells))
	if to == len(e.cells) {
		e.cells = e.cells[:from]
		e.move(e.col) // what is far beyond the end would cost much to fill
		return
	}
	for i := from; i < to; i++ {
		e.cells[i] = ' '
	}
}

// insert shifts the columns from the cursor on to the right.
func (e *plainEdit) insert(n int) {
	n = min(n, plainReach, 2*plainWindow-1-len(e.cells))
	if e.col >= len(e.cells) || n <= 0 {
		return
	}
	e.halve(e.col)
	e.blankTabs()
	if e.col == len(e.cells) {
		return
	}
	e.cells = slices.Insert(e.cells, e.col, slices.Repeat([]plainCell{' '}, n)...)
}

// remove shifts the columns after the n from the cursor on to the left.
func (e *plainEdit) remove(n int) {
	e.halve(e.col)
	e.halve(e.col + n)
	e.blankTabs()
	from, to := min(e.col, len(e.cells)), min(e.col+n, len(e.cells))
	e.cells = slices.Delete(e.cells, from, to)
}
