package render

import (
	"slices"
	"strconv"
	"unicode"

	"github.com/longterm-dev/longterm/vterm"
)

// Start and end of a repaint: synchronized if the terminal supports it (mode 2026), without a cursor, and in a state in
// which text is printed where it is placed (no insert, origin or left and right margin mode, no scroll region, ASCII in
// G0).
const (
	repaintBegin = "\x1b[?2026h\x1b[?25l\x1b[4l\x1b[?6l\x1b[?69l\x1b[?7h\x1b[r\x1b(B\x0f\x1b]8;;\x1b\\\x1b[m\x1b[H\x1b[2J"
	repaintEnd   = "\x1b[?2026l"
)

func appendRepaint(dst []byte, f *vterm.Frame, p *pen, o *ANSIOptions) []byte {
	dst = append(dst, repaintBegin...)
	wraps := false // the row above runs into this one by itself
	for i := range f.Lines {
		l := &f.Lines[i]
		wrapped := wraps
		wraps = o.Exact && i+1 < len(f.Lines) && wrapsOn(l, &f.Lines[i+1], f.Cols)
		dst = p.row(dst, l, wrapped)
	}
	dst = p.change(dst, vterm.Style{})
	if o.images != imagesNone {
		dst = joinImages(dst, f, o.images == imagesNamed)
	}
	dst = p.cursor(dst, o.Exact)
	if f.Title != "" {
		dst = append(dst, "\x1b]2;"...)
		dst = appendPrintable(dst, []byte(f.Title))
		dst = append(dst, "\x1b\\"...)
	}
	if f.Cursor.Visible {
		dst = append(dst, "\x1b[?25h"...)
	}
	return append(dst, repaintEnd...)
}

// wrapsOn reports whether a terminal of that width, after printing l, continues with next by itself. It returns false
// for rows with unstable characters: those may shift the end.
func wrapsOn(l, next *vterm.Line, cols int) bool {
	if !l.Wrapped || l.Size != vterm.LineNormal || next.Size != vterm.LineNormal || next.Row != l.Row+1 ||
		len(l.Cells) != cols || len(next.Cells) == 0 || padding(next.Cells, 0) {
		return false
	}
	last := cols - 1
	if l.Cells[last].Width() == vterm.WidthHead && next.Cells[0].Width() == vterm.WidthWide {
		last-- // the next character did not fit there
	}
	return last >= 0 && !padding(l.Cells, last) && !slices.ContainsFunc(l.Cells, unstable) && !unstable(next.Cells[0])
}

// sizeSequences are DECDWL and DECDHL.
var sizeSequences = [...]string{
	vterm.LineNormal: "", vterm.LineDoubleWidth: "\x1b#6",
	vterm.LineDoubleTop: "\x1b#3", vterm.LineDoubleBottom: "\x1b#4",
}

// row paints a row on a cleared screen and skips blanks. It sets the column around characters that terminals may
// measure differently or join with neighbours. A wrapped row starts where the row above left the cursor.
func (p *pen) row(dst []byte, l *vterm.Line, wrapped bool) []byte {
	cells := trimPadding(l.Cells)
	if size := nameOf(sizeSequences[:], int(l.Size)); size != "" {
		dst = append(appendCUP(dst, l.Row, 0), size...)
	}
	at := -1 // column of the terminal's cursor
	if wrapped {
		at = 0
	}
	for i, c := range cells {
		if c == 0 || isTail(cells, i) {
			continue
		}
		if at != i || i > 0 && unstable(c) {
			dst = appendCUP(dst, l.Row, i)
		}
		dst = p.cell(dst, cells, i)
		if at = i + 1; isTail(cells, i+1) {
			at++
		}
		if unstable(c) {
			at = -1
		}
	}
	return dst
}

// unstable reports whether terminals disagree on a character's width, or join it with its neighbours although it has a
// separate cell here.
func unstable(c vterm.Cell) bool {
	r := c.Rune()
	return c&vterm.CellCluster != 0 || r >= 0x300 && unicode.In(r, unicode.M, unicode.Cf, joiners)
}

// joiners are Hangul jamo, regional indicators and emoji modifiers (UAX #29).
var joiners = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x1100, Hi: 0x11ff, Stride: 1}, {Lo: 0xa960, Hi: 0xa97c, Stride: 1}, {Lo: 0xd7b0, Hi: 0xd7fb, Stride: 1}},
	R32: []unicode.Range32{{Lo: 0x1f1e6, Hi: 0x1f1ff, Stride: 1}, {Lo: 0x1f3fb, Hi: 0x1f3ff, Stride: 1}},
}

// cursor sets the cursor's position and shape.
func (p *pen) cursor(dst []byte, exact bool) []byte {
	c := p.f.Cursor
	dst = appendCUP(dst, c.Row, c.Col)
	if exact && c.Pending {
		dst = p.restorePendingWrap(dst, c)
	}
	dst = append(dst, "\x1b["...)
	dst = strconv.AppendInt(dst, int64(cursorStyle(c)), 10)
	return append(dst, " q"...)
}

// restorePendingWrap reprints the last character of the cursor's row, the only way to get a pending wrap.
func (p *pen) restorePendingWrap(dst []byte, c vterm.Cursor) []byte {
	for i := range p.f.Lines {
		l := &p.f.Lines[i]
		if l.Row != c.Row || len(l.Cells) != p.f.Cols || c.Col != p.f.Cols-1 || padding(l.Cells, c.Col) {
			continue
		}
		if isTail(l.Cells, c.Col) {
			c.Col--
			dst = appendCUP(dst, c.Row, c.Col)
		}
		dst = p.cell(dst, l.Cells, c.Col)
		return p.change(dst, vterm.Style{})
	}
	return dst
}

// AppendCursor appends a sequence that moves the cursor to a row and column, 0-based.
func AppendCursor(dst []byte, row, col int) []byte { return appendCUP(dst, row, col) }

// appendCUP appends CUP; positions on the wire are 1-based.
func appendCUP(dst []byte, row, col int) []byte {
	dst = append(dst, "\x1b["...)
	dst = strconv.AppendInt(dst, int64(row+1), 10)
	dst = append(dst, ';')
	dst = strconv.AppendInt(dst, int64(col+1), 10)
	return append(dst, 'H')
}

// cursorStyle returns the parameter of DECSCUSR. It is 0, the user's own setting, for a block that no program chose.
func cursorStyle(c vterm.Cursor) int {
	n := 2
	switch {
	case c.Shape == vterm.CursorUnderline:
		n = 4
	case c.Shape == vterm.CursorBar:
		n = 6
	case !c.Chosen:
		return 0
	}
	if c.Blink {
		n--
	}
	return n
}
