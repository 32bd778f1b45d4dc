package vterm

import (
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/internal/grid"
)

// ScreenKind selects one of the two grids of a terminal.
type ScreenKind uint8

// Screens.
const (
	ScreenActive ScreenKind = iota // the one that is shown
	ScreenPrimary
	ScreenAlternate
)

// Query selects the content of a Frame.
type Query struct {
	// Since omits rows that did not change after this version. 0: all rows.
	Since  uint64
	Screen ScreenKind
	// HistoryFrom and HistoryTo (exclusive) select the history lines that Frame.PlacedAbove covers.
	HistoryFrom, HistoryTo int
}

// Frame is a copy of a screen, or of its changed rows. Its tables are append-only or replaced as a whole, so a Frame
// stays valid while the engine continues.
type Frame struct {
	Cols, Rows int
	// Version is the version of this content. Pass it as Since next time.
	Version uint64
	// Full is set if every row is present: on request, or because a delta is impossible after a change of size or
	// screen.
	Full bool
	// Alt is set if the alternate screen is active.
	Alt    bool
	Title  string
	Cursor Cursor
	// Lines are the rows present, in ascending order of Line.Row.
	Lines []Line

	Styles   []Style // indexed by StyleID; entry 0 is the default style
	Clusters []string
	Links    []Link // indexed by LinkID; entry 0 is unused
	Palette  *Palette
	Images   []Placement // indexed by Cell.Content of image cells
	// Placed maps each visible placement to the place of its first cell; rows above the screen are negative. It is nil
	// without placements.
	Placed map[int]Place
	// PlacedAbove is the same for the history lines that Query selects. Rows are indices of history lines; an image
	// whose start was dropped from the history has a negative one.
	PlacedAbove map[int]Place
}

// Cursor is the position at which the next character is printed, and how the cursor is drawn.
type Cursor struct {
	Row, Col int
	Visible  bool
	Shape    CursorShape
	Blink    bool
	// Chosen is set if a program chose the shape. Otherwise a terminal may use its default shape.
	Chosen bool
	// Pending is set while a wrap is pending: the last column was written, the cursor is on it, and the next character
	// goes to the next row.
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

// Style returns a cell's style.
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
	f.Placed = t.findPlacements(s)
	f.PlacedAbove = t.placedAbove(q.HistoryFrom, q.HistoryTo)
	f.Palette = t.colors.Palette
}
