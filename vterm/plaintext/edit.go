package plaintext

import (
	"slices"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/internal/width"
)

const (
	// window is the number of columns at the end of a line that can still be changed. It is wider than any terminal.
	window = 4096
	// reach limits how far the cursor can move beyond the text, so that a few bytes cannot use much memory.
	reach = 1024
	// maxCluster limits the bytes of a character with its combining marks.
	maxCluster = 64
)

// cell is a column: a code point, or an index into editor.clusters.
type cell uint32

const (
	tail        cell = 1 << 31 // second column of a wide character
	wide        cell = 1 << 30 // first column of a wide character
	clusterFlag cell = 1 << 29 // content is an index into clusters
	skip        cell = 1 << 28 // column that a tab skipped, after the first, which is '\t'
	contents    cell = 1<<21 - 1
)

// editor holds the line being written: final text, followed by a window of columns that can still change.
type editor struct {
	final     []byte
	cells     []cell
	clusters  []string // clusters of cells with many
	col       int      // cursor column in the window; may be beyond its end
	finalCols int      // number of final columns, modulo the distance of tab stops
}

func (e *editor) clear() {
	e.final, e.cells, e.clusters, e.col, e.finalCols = e.final[:0], e.cells[:0], e.clusters[:0], 0, 0
	if cap(e.final) > keepBytes {
		e.final = nil
	}
	if cap(e.cells) > reach {
		e.cells = nil
	}
	if cap(e.clusters) > reach {
		e.clusters = nil
	}
}

// empty reports whether the line has no text and the cursor is at its start.
func (e *editor) empty() bool { return len(e.cells) == 0 && len(e.final) == 0 && e.col == 0 }

func (e *editor) appendText(dst []byte) []byte {
	return e.appendCells(append(dst, e.final...), e.cells)
}

func (e *editor) appendCells(dst []byte, cells []cell) []byte {
	dst = slices.Grow(dst, len(cells))
	n := len(dst)
	ascii := dst[n : n+len(cells)]
	plain := 0
	for plain < len(cells) && cells[plain] < utf8.RuneSelf {
		ascii[plain] = byte(cells[plain])
		plain++
	}
	dst = dst[:n+plain]
	for _, c := range cells[plain:] {
		switch {
		case c < utf8.RuneSelf:
			dst = append(dst, byte(c))
		case c&(tail|skip) != 0:
		case c&clusterFlag != 0:
			dst = append(dst, e.clusters[c&contents]...)
		default:
			dst = utf8.AppendRune(dst, rune(c&contents))
		}
	}
	return dst
}

// finalize makes the older half of a full window final.
func (e *editor) finalize() {
	n := window
	for n < len(e.cells) && e.cells[n]&(tail|skip) != 0 {
		n++
	}
	e.finalCols = (e.finalCols + n) % tabColumns
	e.final = e.appendCells(e.final, e.cells[:n])
	e.cells = e.cells[:copy(e.cells, e.cells[n:])]
	e.col = max(e.col-n, 0)
	e.keepClusters()
}

// keepClusters drops the clusters that no cell refers to.
func (e *editor) keepClusters() {
	if len(e.clusters) == 0 {
		return
	}
	var kept []string
	for i, c := range e.cells {
		if c&clusterFlag != 0 {
			e.cells[i] = c&^contents | cell(len(kept))
			kept = append(kept, e.clusters[c&contents])
		}
	}
	e.clusters = kept
}

// full reports whether the window must be reduced by finalize.
func (e *editor) full() bool { return len(e.cells) >= 2*window }

// ascii writes printable ASCII, at most until the window is full, and returns the number of written bytes.
func (e *editor) ascii(b []byte) int {
	e.pad()
	n := min(len(b), 2*window-e.col)
	e.halve(e.col)
	e.halve(e.col + n)
	if grow := e.col + n - len(e.cells); grow > 0 {
		e.cells = slices.Grow(e.cells, grow)[:e.col+n]
	}
	dst := e.cells[e.col : e.col+n]
	for i := range dst {
		dst[i] = cell(b[i])
	}
	e.col += n
	return n
}

// print writes one character.
func (e *editor) print(r rune) {
	cols := width.Of(r).Columns()
	if cols == 0 {
		e.combine(r)
		return
	}
	e.pad()
	e.halve(e.col)
	e.halve(e.col + cols)
	c := cell(r)
	if cols == 2 {
		c |= wide
	}
	e.put(c)
	if cols == 2 {
		e.put(tail)
	}
}

func (e *editor) put(c cell) {
	if e.col == len(e.cells) {
		e.cells = append(e.cells, c)
	} else {
		e.cells[e.col] = c
	}
	e.col++
}

// pad fills the columns up to the cursor.
func (e *editor) pad() {
	for len(e.cells) < e.col {
		e.cells = append(e.cells, ' ')
	}
}

// halve blanks the wide character or tab that col would split.
func (e *editor) halve(col int) {
	switch {
	case col <= 0 || col >= len(e.cells):
	case e.cells[col]&tail != 0:
		e.cells[col-1], e.cells[col] = ' ', ' '
	case e.cells[col]&skip != 0:
		e.blankTab(col)
	}
}

// tab implements HT. At the end of the text it adds a tab, so that a Makefile reads back as printed. Over existing text
// it only moves, as on a screen.
func (e *editor) tab() {
	stop := ((e.finalCols+e.col)/tabColumns+1)*tabColumns - e.finalCols
	if e.col < len(e.cells) || stop > 2*window {
		e.move(stop)
		return
	}
	e.pad()
	e.put('\t')
	for e.col < stop {
		e.put(skip)
	}
}

// blankTab replaces the tab that covers col by blanks. At the end of the text it leaves none after col, because nothing
// was printed there.
func (e *editor) blankTab(col int) {
	from, to := col, col
	for e.cells[from]&skip != 0 {
		from--
	}
	for to < len(e.cells) && e.cells[to]&skip != 0 {
		to++
	}
	if to == len(e.cells) {
		e.cells, to = e.cells[:col], col
	}
	for i := from; i < to; i++ {
		e.cells[i] = ' '
	}
}

// blankTabs replaces all tabs from the cursor on by blanks, because they are about to move off their tab stops.
func (e *editor) blankTabs() {
	for i := e.col; i < len(e.cells); i++ {
		if c := e.cells[i]; c == '\t' || c&skip != 0 {
			e.cells[i] = ' '
		}
	}
}

// combine adds a zero-width character to the one before the cursor.
func (e *editor) combine(r rune) {
	i := e.col - 1
	if i > 0 && i < len(e.cells) && e.cells[i]&tail != 0 {
		i--
	}
	if i < 0 || i >= len(e.cells) {
		return
	}
	c := e.cells[i]
	if c == '\t' || c&skip != 0 {
		return
	}
	text := utf8.AppendRune(e.appendCells(nil, []cell{c}), r)
	if len(text) > maxCluster {
		return
	}
	if c&clusterFlag != 0 {
		e.clusters[c&contents] = string(text)
		return
	}
	if len(e.clusters) > 4*window {
		e.keepClusters()
	}
	e.cells[i] = c&wide | clusterFlag | cell(len(e.clusters))
	e.clusters = append(e.clusters, string(text))
}

// move sets the cursor's column.
func (e *editor) move(col int) {
	e.col = min(max(col, 0), max(len(e.cells)+tabColumns, reach), 2*window-2)
}

// erase blanks columns; those at the end are removed.
func (e *editor) erase(from, to int) {
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
func (e *editor) insert(n int) {
	n = min(n, reach, 2*window-1-len(e.cells))
	if e.col >= len(e.cells) || n <= 0 {
		return
	}
	e.halve(e.col)
	e.blankTabs()
	if e.col == len(e.cells) {
		return
	}
	e.cells = slices.Insert(e.cells, e.col, slices.Repeat([]cell{' '}, n)...)
}

// remove shifts the columns after the n from the cursor on to the left.
func (e *editor) remove(n int) {
	e.halve(e.col)
	e.halve(e.col + n)
	e.blankTabs()
	from, to := min(e.col, len(e.cells)), min(e.col+n, len(e.cells))
	e.cells = slices.Delete(e.cells, from, to)
}
