package render

import (
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm"
)

// FromFrame fills dst with a frame as lines of spans. It reuses the slice dst.Lines but not the content of the lines.
func FromFrame(dst *Screen, f *vterm.Frame) {
	dst.Cols, dst.Rows, dst.Version = f.Cols, f.Rows, f.Version
	dst.Title, dst.Alt, dst.Delta = f.Title, f.Alt, !f.Full
	dst.Cursor = Cursor{
		X: f.Cursor.Col, Y: f.Cursor.Row, Visible: f.Cursor.Visible,
		Shape: nameOf(cursorShapes[:], int(f.Cursor.Shape)), Blink: f.Cursor.Blink,
	}
	dst.Scrollback = nil
	dst.Lines = Lines(dst.Lines[:0], f, f.Lines)
}

// Names by their values in vterm.
var (
	cursorShapes = [...]string{vterm.CursorBlock: "block", vterm.CursorUnderline: "underline", vterm.CursorBar: "bar"}

	lineSizes = [...]string{
		vterm.LineNormal: "", vterm.LineDoubleWidth: "double-width",
		vterm.LineDoubleTop: "double-top", vterm.LineDoubleBottom: "double-bottom",
	}

	underlines = [...]string{
		vterm.UnderlineNone: "", vterm.UnderlineSingle: "single", vterm.UnderlineDouble: "double",
		vterm.UnderlineCurly: "curly", vterm.UnderlineDotted: "dotted", vterm.UnderlineDashed: "dashed",
	}
)

// nameOf returns names[i], or the first one for unknown values of a later vterm.
func nameOf(names []string, i int) string {
	if i >= len(names) {
		return names[0]
	}
	return names[i]
}

// Lines appends lines, of the frame's screen or of its history, as spans.
func Lines(dst []Line, f *vterm.Frame, lines []vterm.Line) []Line {
	if dst == nil {
		dst = make([]Line, 0, len(lines)) // a screen without rows is [] in JSON, not null
	}
	s := spanner{f: f, screen: len(lines) > 0 && len(f.Lines) > 0 && &lines[0] == &f.Lines[0], styles: spanStyles{f: f, palette: f.Palette}}
	if s.styles.palette == nil {
		s.styles.palette = defaultPalette
	}
	for i := range lines {
		dst = append(dst, s.line(&lines[i]))
	}
	return dst
}

var defaultPalette = vterm.DefaultPalette()

// spanner converts rows of cells to spans. A line costs one allocation for its text, which its spans share, and one for
// the spans.
type spanner struct {
	f      *vterm.Frame
	styles spanStyles
	text   []byte // scratch buffer: the text of a line
	ends   []int  // scratch buffer: the end of each cell in text
	screen bool   // the lines are the frame's own instead of history lines
}

func (s *spanner) line(l *vterm.Line) Line {
	cells := trimPadding(l.Cells)
	s.text, s.ends = s.text[:0], s.ends[:0]
	runs := 0
	for i := range cells {
		s.text = appendCell(s.text, s.f, cells, i)
		s.ends = append(s.ends, len(s.text))
		if i == 0 || !continuesSpan(cells, i) {
			runs++
		}
	}
	text := string(s.text)
	out := Line{
		Row: l.Row, Text: text[:s.end(writtenLen(cells))], Wrapped: l.Wrapped,
		Size: nameOf(lineSizes[:], int(l.Size)), Spans: make([]Span, 0, runs),
	}
	for col := 0; col < len(cells); {
		end := runEnd(cells, col)
		span := s.styles.spanFor(cells[col])
		span.Text = text[s.end(col):s.end(end)]
		span.Col, span.Width = col, end-col
		span.Widths = s.widths(cells, text, col, end)
		if cells[col]&vterm.CellImage != 0 {
			span.Image, span.Lost = s.image(cells[col], l.Row, col)
		}
		out.Spans = append(out.Spans, span)
		col = end
	}
	return out
}

// end returns where the text of the first n cells ends.
func (s *spanner) end(n int) int {
	if n == 0 {
		return 0
	}
	return s.ends[n-1]
}

// continuesSpan reports whether cell i belongs to the span of the previous cell. A tail always does, and images are separate
// spans.
func continuesSpan(cells []vterm.Cell, i int) bool {
	if isTail(cells, i) {
		return true
	}
	images := (cells[i]|cells[i-1])&vterm.CellImage != 0
	return cells[i].Style() == cells[i-1].Style() && (!images || (cells[i]^cells[i-1])&(vterm.CellImage|imageIndex) == 0)
}

// imageIndex is where a cell's content is.
const imageIndex = vterm.Cell(1<<21 - 1)

// image returns the part of an image that a span starting at a cell shows, or nil if it is lost or placed elsewhere.
func (s *spanner) image(c vterm.Cell, row, col int) (part *ImagePart, lost bool) {
	where := s.f.PlacedAbove
	if s.screen {
		where = s.f.Placed
	}
	at, placed := where[int(c.Content())]
	if !placed || int(c.Content()) >= len(s.f.Images) {
		return nil, false
	}
	p := &s.f.Images[c.Content()]
	if p.Image == nil || row < at.Row || row >= at.Row+p.Rows || col >= at.Col+p.Cols {
		return nil, p.Image == nil
	}
	return &ImagePart{Image: p.Image, X: col - at.Col, Y: row - at.Row, Cols: at.Cols, Rows: at.Rows}, false
}

func runEnd(cells []vterm.Cell, col int) int {
	end := col + 1
	for end < len(cells) && continuesSpan(cells, end) {
		end++
	}
	return end
}

// widths returns the width of each character, or nil if each cell of [from, to) is one character.
func (s *spanner) widths(cells []vterm.Cell, text string, from, to int) []int8 {
	plain := true
	for _, c := range cells[from:to] {
		plain = plain && (c.Width() == vterm.WidthNarrow || c.Width() == vterm.WidthHead) && c&vterm.CellCluster == 0
	}
	if plain {
		return nil
	}
	var out []int8
	for i := from; i < to; i++ {
		for n := range text[s.end(i):s.end(i+1)] {
			switch {
			case n > 0:
				out = append(out, 0)
			case isTail(cells, i+1):
				out = append(out, 2)
			default:
				out = append(out, 1)
			}
		}
	}
	return out
}

// isTail reports whether cell i is the second column of a character.
func isTail(cells []vterm.Cell, i int) bool {
	return i > 0 && i < len(cells) && cells[i].Width() == vterm.WidthTail && cells[i-1].Width() == vterm.WidthWide
}

// trimPadding removes invisible cells at the end: never written, default style.
func trimPadding(cells []vterm.Cell) []vterm.Cell {
	n := len(cells)
	for n > 0 && cells[n-1].Style() == 0 && padding(cells, n-1) {
		n--
	}
	return cells[:n]
}

// writtenLen returns the number of cells up to the last written one, spaces included.
func writtenLen(cells []vterm.Cell) int {
	n := len(cells)
	for n > 0 && padding(cells, n-1) {
		n--
	}
	return n
}

func padding(cells []vterm.Cell, i int) bool { return cells[i].Blank() && !isTail(cells, i) }

// appendCell appends the text of cell i: nothing for the tail of a wide character, a space for a blank, and never a
// control character.
func appendCell(dst []byte, f *vterm.Frame, cells []vterm.Cell, i int) []byte {
	c := cells[i]
	if r := c.Rune(); r >= ' ' && r < 0x7f {
		return append(dst, byte(r))
	}
	if isTail(cells, i) {
		return dst
	}
	n := len(dst)
	dst = f.AppendText(dst, c)
	if len(dst) == n { // a tail without its character, an empty cluster
		return append(dst, ' ')
	}
	if printable(dst[n:]) {
		return dst
	}
	return appendPrintable(dst[:n], append([]byte{}, dst[n:]...))
}

func printable(text []byte) bool {
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if isControl(r) || r == utf8.RuneError && n == 1 {
			return false
		}
		text = text[n:]
	}
	return true
}

// isControl reports whether r is a C0 control, DEL or C1 control.
func isControl(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }

// appendPrintable appends UTF-8 text with control characters and invalid bytes replaced.
func appendPrintable(dst, text []byte) []byte {
	for _, r := range string(text) {
		if isControl(r) {
			r = utf8.RuneError
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}
