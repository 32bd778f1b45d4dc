package redact

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"
)

// A program may print a secret so that its bytes are not adjacent in the output but its letters are on the terminal: with
// backspaces (overstrike, line editors), by overwriting, by cursor motions, or with titles, bells or zero-width characters
// in between. So a line with anything of that kind is also searched in its displayed form. All that was ever printed in the
// columns of a secret is masked. The displayed form is that of vterm/plaintext: one line, without rows.

// Bounds of lines in displayed form.
const (
	// maxEdited bounds the distance of a secret's bytes in a longer line.
	maxEdited = 4 << 10
	// maxColumn bounds the columns that the cursor can move to.
	maxColumn = maxEdited
	// maxColumnChecks bounds the columns that are checked per byte of a line. Beyond it, columns further than nearColumns from
	// the cursor are dropped: a line is checked before each change, which may be at each byte.
	maxColumnChecks = 128
	// freeColumnChecks is the number of columns that are checked without that limit.
	freeColumnChecks = 32 << 10
	nearColumns      = 128
	// maxRepeated bounds the repeated characters of a line (REP).
	maxRepeated = maxEdited
	// searchCost is the number of column checks that a full search of one column counts as.
	searchCost = 15
)

// overwrittenCell is a character that was printed in a column.
type overwrittenCell struct {
	offset, size int  // offset in the line's bytes, and length
	replaced     int  // index of the character that it replaced; -1: none
	isCollected  bool // its chain of replaced characters was collected
}

// Columns that show no cell.
const (
	blankColumn = -1
	wideColumn  = -2 // second column of a wide character
)

// editedLine is a line in displayed form, while its bytes are processed.
type editedLine struct {
	output       []byte
	cells        []overwrittenCell // all printed characters
	columns      []int             // indices of the shown cells, by column
	shown        []byte            // text of the columns, if it is ASCII
	hasNonASCII  bool              // shown is not the text of the columns
	firstColumn  int               // columns before it are empty
	cursor       int
	isInsertMode bool   // mode IRM: printing moves the rest of the line
	lastChar     [3]int // offset, length and width of the newest character, for REP
	repeats      int    // characters repeated by REP
	lineStart    int    // offset of the line's start
	offset       int    // offset of the byte that is processed
	columnChecks int    // columns checked so far
	isChanged    bool   // the line changed since the last search
	changed      span   // columns that changed since then
	search       lineSearch
	text         text // text of the last search
}

// lineSearch is the search that is made in a displayed line.
type lineSearch struct {
	// mayMatch reports whether a line may have a match in columns that changed since the last check; nil: always.
	mayMatch func(line []byte, others span) bool
	found    func(t *text)
}

// searchEditedLines searches each line of b whose displayed form differs from its bytes, in that form: at its end and before
// each removal of displayed text. So a read that ends at any byte finds nothing that a longer read does not find. base is
// the offset of b in the output.
func searchEditedLines(b []byte, base uint64, look lineSearch) {
	for begin := 0; begin < len(b); {
		end := begin + bytes.IndexByte(b[begin:], '\n') + 1
		if end == begin {
			end = len(b)
		}
		switch line := b[begin:end]; {
		case !isEdited(line):
		case len(line) <= maxEdited:
			replayLine(b, begin, end, look)
		default: // in overlapping halves, at the same offsets in each read
			for from := begin - int((base+uint64(begin))%maxEdited); from < end; from += maxEdited {
				if lo, hi := max(from, begin), min(from+2*maxEdited, end); isEdited(b[lo:hi]) {
					replayLine(b, lo, hi, look)
				}
			}
		}
		begin = end
	}
}

// isEdited reports whether a line contains cursor motions or deletions. Colours do not count.
func isEdited(line []byte) bool {
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c >= ' ' && c < 0x7f, c == '\n', c == '\t':
		case c == '\r':
			if i+1 < len(line) && line[i+1] != '\n' && line[i+1] != '\r' {
				return true
			}
		case c == 0x1b:
			n := nonTextLen(line[i:])
			if n < 3 || line[i+n-1] != 'm' {
				return true
			}
			i += n - 1
		case c < utf8.RuneSelf:
			return true
		default:
			r, n := utf8.DecodeRune(line[i:])
			if r < 0xa0 || isZeroWidth(r) || !utf8.FullRune(line[i:]) { // following bytes may complete a zero-width character
				return true
			}
			i += n - 1
		}
	}
	return false
}

// replayLine processes the bytes of a line and searches it.
func replayLine(b []byte, from, to int, look lineSearch) {
	e := editedLine{output: b, search: look, cells: make([]overwrittenCell, 0, to-from), lineStart: from, firstColumn: maxColumn}
	for i := from; i < to; {
		i += e.step(b[i:to], i)
	}
	e.searchShown()
}

// step processes the start of b, at an offset, and returns the length of the processed part.
func (e *editedLine) step(b []byte, at int) int {
	e.offset = at
	switch c := b[0]; {
	case c == 0x1b:
		return e.execEscape(b)
	case c == '\r':
		e.moveCursor(0)
	case c == '\b':
		e.moveCursor(e.cursor - 1)
	case c == '\t':
		e.moveCursor((e.cursor/8 + 1) * 8)
	case c < ' ' || c == 0x7f:
	case c < utf8.RuneSelf:
		e.printChar(at, 1, 1)
	default:
		r, n := utf8.DecodeRune(b)
		switch {
		case !utf8.FullRune(b): // incomplete character
			return len(b)
		case r == utf8.RuneError && n == 1:
			e.printChar(at, 1, 1)
		case r == 0x9b:
			return e.execCSI(b, n)
		case r < 0xa0 || isZeroWidth(r):
		case isWide(r):
			e.printChar(at, n, 2)
		default:
			e.printChar(at, n, 1)
		}
		return n
	}
	return 1
}

// printChar puts a character into the column of the cursor.
func (e *editedLine) printChar(at, n, width int) {
	if e.lastChar = [3]int{at, n, width}; e.cursor >= maxColumn {
		return
	}
	if e.isInsertMode {
		e.insertColumns(width)
	}
	if !e.isSameChar(at, n, width) {
		e.searchBeforeChange(e.cursor, e.cursor+width)
	}
	from := min(e.cursor, len(e.columns))
	to := e.cursor + width
	if e.cursor < e.firstColumn {
		from, to, e.firstColumn = e.cursor, max(to, e.firstColumn), e.cursor
	}
	e.markChanged(from, to)
	for len(e.columns) < e.cursor+width {
		e.columns, e.shown = append(e.columns, blankColumn), append(e.shown, ' ')
	}
	if e.shown[e.cursor] = e.output[at]; n > 1 {
		e.hasNonASCII = true
	}
	under := e.columns[e.cursor]
	if under == wideColumn {
		under = blankColumn
	}
	e.cells = append(e.cells, overwrittenCell{offset: at, size: n, replaced: under})
	e.columns[e.cursor] = len(e.cells) - 1
	if width == 2 {
		e.columns[e.cursor+1] = wideColumn
	}
	e.cursor += width
}

// markChanged records that columns may have changed.
func (e *editedLine) markChanged(from, to int) {
	if !e.isChanged {
		e.changed = span{from, to}
	}
	e.isChanged, e.changed = true, span{min(e.changed.from, from), max(e.changed.to, to)}
}

// isSameChar reports whether the character is already at the cursor, as in overstriking.
func (e *editedLine) isSameChar(at, n, width int) bool {
	if e.cursor+width > len(e.columns) || e.columns[e.cursor] < 0 || width == 2 && e.columns[e.cursor+1] != wideColumn {
		return false
	}
	was := e.cells[e.columns[e.cursor]]
	return bytes.Equal(e.output[was.offset:was.offset+was.size], e.output[at:at+n])
}

// searchBeforeChange searches the line before some columns change. Blanks may belong to secrets, too.
func (e *editedLine) searchBeforeChange(from, to int) {
	if !e.isChanged || from >= min(to, len(e.columns)) {
		return
	}
	e.searchShown()
	if e.columnChecks > freeColumnChecks+maxColumnChecks*(e.offset-e.lineStart) {
		e.dropFarColumns()
	}
}

// dropFarColumns keeps only columns near the cursor. The time when it runs depends only on the start of the line.
func (e *editedLine) dropFarColumns() {
	e.truncate(min(len(e.columns), e.cursor+nearColumns))
	first := min(e.cursor-nearColumns, len(e.columns))
	e.blankColumns(e.firstColumn, first)
	e.firstColumn = max(e.firstColumn, first)
}

// truncate keeps n columns.
func (e *editedLine) truncate(n int) { e.columns, e.shown = e.columns[:n], e.shown[:n] }

// blankColumns blanks a range of columns.
func (e *editedLine) blankColumns(from, to int) {
	for i := from; i < to; i++ {
		e.columns[i], e.shown[i] = blankColumn, ' '
	}
}

// moveCursor sets the cursor's column within bounds.
func (e *editedLine) moveCursor(col int) { e.cursor = min(max(col, 0), maxColumn) }

// execEscape executes an escape sequence and returns its length.
func (e *editedLine) execEscape(b []byte) int {
	if len(b) < 2 {
		return len(b)
	}
	switch c := b[1]; {
	case c == '[':
		return e.execCSI(b, 2)
	case c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_' || c == 'k':
		for i := 2; i < len(b); i++ {
			switch {
			case b[i] == 0x07, b[i] == 0x18, b[i] == 0x1a:
				return i + 1
			case b[i] == 0x1b && i+1 < len(b) && b[i+1] == '\\':
				return i + 2
			case b[i] == 0x1b:
				return i
			}
		}
		return len(b)
	case c >= ' ' && c < '0': // with intermediates
		for i := 2; i < len(b); i++ {
			if b[i] >= '0' || b[i] < ' ' {
				return i + 1
			}
		}
		return len(b)
	}
	return 2
}

// execCSI executes a control sequence whose parameters start at n, and returns its end.
func (e *editedLine) execCSI(b []byte, n int) int {
	arg, first, private := -1, true, false
	for ; n < len(b) && b[n] < 0x40; n++ {
		switch c := b[n]; {
		case c < ' ':
			switch c {
			case '\b':
				e.moveCursor(e.cursor - 1)
			case '\r':
				e.moveCursor(0)
			case 0x18, 0x1a:
				return n + 1
			case 0x1b:
				return n
			}
		case c >= '0' && c <= '9' && first:
			arg = min(max(arg, 0)*10+int(c-'0'), maxColumn)
		case c >= '0' && c <= '9':
		case c == ';':
			first = false
		default:
			private = true
		}
	}
	if n == len(b) {
		return n
	}
	if !private {
		e.execFinal(b[n], arg)
	}
	return n + 1
}

// execFinal executes a control sequence by its final byte.
func (e *editedLine) execFinal(final byte, arg int) {
	n := max(arg, 1)
	switch final {
	case 'C', 'a':
		e.moveCursor(e.cursor + n)
	case 'D':
		e.moveCursor(e.cursor - n)
	case 'G', '`':
		e.moveCursor(n - 1)
	case '@':
		e.insertColumns(n)
	case 'b': // REP
		if last := e.lastChar; last[1] > 0 {
			for ; n > 0 && e.cursor < maxColumn && e.repeats < maxRepeated; n-- {
				e.repeats++
				e.printChar(last[0], last[1], last[2])
			}
		}
	case 'h', 'l': // IRM
		if arg == 4 {
			e.isInsertMode = final == 'h'
		}
	case 'P':
		if e.cursor < len(e.columns) {
			e.searchBeforeChange(e.cursor, e.cursor+n)
			end := min(e.cursor+n, len(e.columns))
			e.columns, e.shown = slices.Delete(e.columns, e.cursor, end), slices.Delete(e.shown, e.cursor, end)
			e.firstColumn = min(e.firstColumn, e.cursor)
			e.markChanged(e.cursor, maxColumn)
		}
	case 'X':
		e.eraseColumns(e.cursor, e.cursor+n)
	case 'K':
		switch max(arg, 0) {
		case 0:
			e.eraseColumns(e.cursor, len(e.columns))
		case 1:
			e.eraseColumns(0, e.cursor+1)
		case 2:
			e.eraseColumns(0, len(e.columns))
		}
	}
}

// insertColumns moves the rest of the line by n columns.
func (e *editedLine) insertColumns(n int) {
	if e.cursor < len(e.columns) && len(e.columns)+n <= maxColumn {
		e.searchBeforeChange(e.cursor, len(e.columns))
		e.columns = slices.Insert(e.columns, e.cursor, slices.Repeat([]int{blankColumn}, n)...)
		e.shown = slices.Insert(e.shown, e.cursor, bytes.Repeat([]byte{' '}, n)...)
		e.markChanged(e.cursor, maxColumn)
	}
}

// eraseColumns blanks a range of columns, or removes it at the end of the line.
func (e *editedLine) eraseColumns(from, to int) {
	if from >= len(e.columns) {
		return
	}
	e.searchBeforeChange(from, to)
	e.markChanged(from, to)
	if to >= len(e.columns) {
		e.truncate(from)
		return
	}
	e.blankColumns(from, to)
}

// searchShown searches the line in its current displayed form.
func (e *editedLine) searchShown() {
	if !e.isChanged {
		return
	}
	e.isChanged = false
	first := min(e.firstColumn, len(e.columns))
	cols, others := e.columns[first:], span{}
	e.columnChecks += len(cols)
	if !e.hasNonASCII && e.search.mayMatch != nil {
		others = span{min(max(e.changed.from-first, 0), len(cols)), min(max(e.changed.to-first, 0), len(cols))}
		if !e.search.mayMatch(e.shown[first:], others) {
			return
		}
	}
	e.columnChecks += searchCost * len(cols)
	t := &e.text
	*t = text{edited: e, data: t.data[:0], offsets: t.offsets[:0], cells: t.cells[:0], flatIndex: t.flatIndex[:0]}
	for i, s := range cols {
		switch {
		case s == blankColumn:
			t.data = append(t.data, ' ')
		case s >= 0:
			was := &e.cells[s]
			t.data = append(t.data, e.output[was.offset:was.offset+was.size]...)
		}
		if first+i < e.changed.from {
			others.from = len(t.data)
		}
		if first+i < e.changed.to {
			others.to = len(t.data)
		}
	}
	if e.hasNonASCII && e.search.mayMatch != nil && !e.search.mayMatch(t.data, others) {
		return
	}
	for _, s := range cols {
		switch {
		case s == blankColumn:
			t.offsets, t.cells = append(t.offsets, -1), append(t.cells, s)
		case s >= 0:
			for k := range e.cells[s].size {
				t.offsets, t.cells = append(t.offsets, e.cells[s].offset+k), append(t.cells, s)
			}
		}
	}
	t.flat = t.data
	for i := range t.data {
		t.flatIndex = append(t.flatIndex, i)
	}
	e.search.found(t)
}

// overwrittenRanges returns the ranges of all characters ever printed at the given positions of a text.
func (e *editedLine) overwrittenRanges(t *text, places []int) (all []span) {
	for _, p := range places {
		for s := t.cells[p]; s >= 0 && !e.cells[s].isCollected; s = e.cells[s].replaced {
			e.cells[s].isCollected = true
			all = append(all, span{e.cells[s].offset, e.cells[s].offset + e.cells[s].size})
		}
	}
	return all
}

// isZeroWidth reports whether a character takes no column and is invisible.
func isZeroWidth(r rune) bool {
	return r == 0xad || r >= 0x300 && unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point)
}

// isWide reports whether a character that a secret may contain takes two columns.
func isWide(r rune) bool {
	return r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf && r != 0x303f || r >= 0xac00 && r <= 0xd7a3 || r >= 0xf900 && r <= 0xfaff ||
		r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0xffe0 && r <= 0xffe6 || r >= 0x1f300 && r <= 0x1faff || r >= 0x20000 && r <= 0x3fffd)
}
