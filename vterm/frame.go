package vterm

import (
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/internal/grid"
)

// ScreenKind selects one of the two grids of a terminal.
type ScreenKind uint8

// Screens.
const (
	ScreenActive ScreenKind = iota // whichever is shown
	ScreenPrimary
	ScreenAlternate
)

// Query says what a Frame should hold.
type Query struct {
	// Since leaves out rows that did not change after this version. 0: all rows.
	Since  uint64
	Screen ScreenKind
	// HistoryFrom and HistoryTo (exclusive) are the lines of history of which Frame.PlacedAbove tells.
	HistoryFrom, HistoryTo int
}

// Frame is a copy of a screen, or of the rows of it that changed. Its tables are
// append-only or replaced as a whole, so a Frame stays valid while the engine goes on.
type Frame struct {
	Cols, Rows int
	// Version is the version shown. Ask for Since=Version next time.
	Version uint64
	// Full is set when every row is present: asked for, or the size or the screen
	// changed so much that a delta would not do.
	Full bool
	// Alt is set when the alternate screen is the active one.
	Alt    bool
	Title  string
	Cursor Cursor
	// Lines are the rows present, in ascending order of Line.Row.
	Lines []Line

	Styles   []Style // index StyleID; entry 0 is the default style
	Clusters []string
	Links    []Link // index LinkID; entry 0 is unused
	Palette  *Palette
	Images   []Placement // index Cell.Content of image cells
	// Placed says of each placement that the screen shows where its first cell is; a row above the screen is negative.
	// nil: there is none.
	Placed map[int]Place
	// PlacedAbove is the same of the lines of history that Query names. Rows count as History counts lines; that of an
	// image whose beginning history has dropped is negative.
	PlacedAbove map[int]Place
}

// Cursor is where the next character goes.
type Cursor struct {
	Row, Col int
	Visible  bool
	Shape    CursorShape
	Blink    bool
	// Chosen is set if a program chose the shape. Otherwise a terminal may show its own.
	Chosen bool
	// Pending is set after the last column was written and before the wrap: the
	// cursor stands on the last column, the next character goes to the next row.
	Pending bool
}

// CursorShape is the shape set by DECSCUSR.
type CursorShape uint8

// Cursor shapes.
const (
	CursorBlock CursorShape = iota
	CursorUnderline
	CursorBar
)

// Style looks a cell's style up.
func (f *Frame) Style(c Cell) Style {
	if id := int(c.Style()); id < len(f.Styles) {
		return f.Styles[id]
	}
	return Style{}
}

// AppendText appends the text of a cell: nothing for tails, a space for blanks.
func (f *Frame) AppendText(dst []byte, c Cell) []byte {
	switch {
	case c.Width() == WidthTail:
		return dst
	case c&CellImage != 0 || c.Blank():
		return append(dst, ' ')
	case c&CellCluster != 0:
		if i := int(c.Content()); i < len(f.Clusters) {
			return append(dst, f.Clusters[i]...)
		}
		return append(dst, "\uFFFD"...)
	}
	return utf8.AppendRune(dst, c.Rune())
}

// Frame implements Engine.
func (t *Terminal) Frame(f *Frame, q Query) {
	s := t.scr
	switch {
	case q.Screen == ScreenPrimary:
		s = t.primary
	case q.Screen == ScreenAlternate:
		if s = t.alternate; s == nil {
			s = &grid.Screen{Cols: t.cols}
		}
	}
	f.Cols, f.Rows, f.Version = t.cols, t.rows, t.tables.Version
	f.Alt = t.scr != t.primary
	f.Title = t.title.window
	f.Full = q.Since == 0 || q.Since < s.Moved || q.Since < t.tablesVersion
	f.Cursor = Cursor{
		Row: t.cur.Row, Col: t.cur.Col, Pending: t.cur.Pending,
		Visible: t.modes&modeCursorVisible != 0, Shape: t.shape.shape,
		Blink: t.modes&modeCursorBlink != 0, Chosen: t.shape.chosen,
	}
	if saved := &t.saved[0]; s == t.primary && s != t.scr && saved.set { // where it is once a program leaves the alternate screen
		f.Cursor.Row, f.Cursor.Col, f.Cursor.Pending = min(saved.cur.Row, t.rows-1), min(saved.cur.Col, t.cols-1), false
	}
	f.Lines = s.CopyRows(f.Lines[:0], f.Full, q.Since)
	f.Styles = t.tables.Styles.List[:len(t.tables.Styles.List):len(t.tables.Styles.List)]
	f.Clusters = t.tables.Clusters.List[:len(t.tables.Clusters.List):len(t.tables.Clusters.List)]
	f.Links = t.tables.Links.List[:len(t.tables.Links.List):len(t.tables.Links.List)]
	f.Images = t.images.Placements[:len(t.images.Placements):len(t.images.Placements)]
	f.Placed = t.placed(s)
	f.PlacedAbove = t.placedAbove(q.HistoryFrom, q.HistoryTo)
	f.Palette = t.colors.Palette
}
