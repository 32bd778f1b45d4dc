package render

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/render/boxdraw"
	"github.com/longterm-dev/longterm/vterm"
)

// PictureOptions say how a screen becomes a picture: HTML, SVG or pixels.
type PictureOptions struct {
	Theme Theme
	// NoCursor leaves the cursor out.
	NoCursor bool
	// CursorShape is block, underline or bar; empty: what the program set.
	CursorShape string
	// Scale is the size, 1 (or 0) being a font of 16 pixels.
	Scale float64
	// Padding is the space around the cells, in pixels at scale 1.
	Padding int
}

// Size of a cell at scale 1 and of a font whose characters are as wide, in pixels. The
// font's advance is 0.602 em, that of most monospaced ones.
const (
	CellWidth  = 10
	CellHeight = 20
	FontSize   = 16.611
	baseline   = 15
	lineWidth  = 1.3 // of light box drawing and underlines, before rounding
)

// Scaled is the scale, never zero.
func (o *PictureOptions) Scaled() float64 {
	if o.Scale <= 0 {
		return 1
	}
	return o.Scale
}

// CursorOn is the shape to draw the screen's cursor in and its place in Grid; an empty
// shape is no cursor.
func (o *PictureOptions) CursorOn(s *Screen) (shape string, row, col int) {
	c := &s.Cursor
	if o.NoCursor || !c.Visible || c.Y < 0 || c.Y >= s.Rows || c.X < 0 || s.Cols <= 0 {
		return "", -1, -1
	}
	shape = c.Shape
	if o.CursorShape != "" {
		shape = o.CursorShape
	}
	if shape != "underline" && shape != "bar" {
		shape = "block"
	}
	return shape, len(s.Scrollback) + c.Y, min(c.X, s.Cols-1)
}

// Grid is the lines of history and screen one below the other; rows that are not there
// are empty.
func (s *Screen) Grid() []Line {
	rows := min(max(s.Rows, 0), vterm.MaxRows)
	grid := make([]Line, len(s.Scrollback)+rows)
	copy(grid, s.Scrollback)
	screen := grid[len(s.Scrollback):]
	for _, l := range s.Lines {
		if l.Row >= 0 && l.Row < rows {
			screen[l.Row] = l
		}
	}
	return grid
}

// chunk is a piece of a line that is written as one element.
type chunk struct {
	text       string
	col, width int
	span       *Span
	paint      Paint
	// drawn is the character to draw as a shape, with which all of text is filled.
	drawn rune
	// alone is set for a character that a font may make wider or narrower than its cells.
	alone  bool
	cursor string // shape
}

// chunks cuts a line so that every piece keeps to its columns whatever the font: runs of
// characters that monospaced fonts have, and others alone. Gaps between spans are left out.
func (o *PictureOptions) chunks(l *Line, cols, cursorCol int, shape string, f func(chunk)) {
	drawn := cursorCol < 0 || shape == ""
	blank := func() {
		s := &Span{Text: " ", Col: cursorCol, Width: 1}
		o.spanChunks(s, cursorCol, shape, f)
	}
	end := 0
	for i := range l.Spans {
		s := &l.Spans[i]
		if s.Col < end || s.Width < 1 || s.Col >= cols {
			continue // it was not made here
		}
		end = s.Col + s.Width
		if !drawn && s.Col > cursorCol {
			blank()
		}
		drawn = drawn || end > cursorCol
		o.spanChunks(s, cursorCol, shape, f)
	}
	if !drawn {
		blank()
	}
}

func (o *PictureOptions) spanChunks(s *Span, cursorCol int, shape string, f func(chunk)) {
	paint := o.Theme.Paint(s)
	run := chunk{span: s, paint: paint}
	flush := func() {
		if run.width > 0 {
			f(run)
		}
		run = chunk{span: s, paint: paint}
	}
	s.Characters(func(text string, col, width int) bool {
		c := chunk{text: text, col: col, width: width, span: s, paint: paint}
		c.classify()
		if shape != "" && cursorCol >= col && cursorCol < col+width {
			o.putCursor(&c, shape)
		}
		joins := c.cursor == "" && !c.alone && (c.drawn == 0 || tiles(c.drawn))
		if !joins || run.width > 0 && run.drawn != c.drawn {
			flush()
		}
		switch {
		case !joins:
			f(c)
		case run.width == 0:
			run = c
		default:
			run.text, run.width = run.text+text, run.width+width
		}
		return true
	})
	flush()
}

// classify says how a character is to be held to its columns.
func (c *chunk) classify() {
	r, n := utf8.DecodeRuneInString(c.text)
	if n == len(c.text) && boxdraw.Has(r) {
		c.drawn = r
		return
	}
	// Every monospaced font has these, one cell wide.
	safe := n == len(c.text) && (r >= ' ' && r < 0x7f || r >= 0xa1 && r < 0x250 && r != 0xad)
	c.alone = !safe
}

func (o *PictureOptions) putCursor(c *chunk, shape string) {
	c.cursor = shape
	if shape == "block" {
		c.paint.FG, c.paint.BG, c.paint.Filled = o.Theme.BG, o.Theme.Cursor, true
		c.paint.UL = c.paint.FG
	}
}

// tiles reports shapes that look the same when stretched over several cells.
func tiles(r rune) bool {
	return r == 0x2500 || r == 0x2501 || r == 0x2550 || r >= 0x2580 && r <= 0x2588 || r == 0x2594
}

// cleanText is text fit for HTML and XML: what is no XML character is replaced, and what
// turns the direction of the text around it is left out.
func cleanText(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c:
			return -1
		case isControl(r), r&0xfffe == 0xfffe, r >= 0xfdd0 && r <= 0xfdef:
			return utf8.RuneError
		}
		return r
	}, text)
}

// safeLink is a hyperlink's target if a person may follow it from a page: output is
// hostile, and javascript: is a target too.
func safeLink(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if uri == "" || err != nil || len(uri) > 8192 {
		return "", false
	}
	switch u.Scheme { // in lower case, by url.Parse
	case "http", "https", "mailto", "ftp", "file":
		return cleanText(uri), true
	}
	return "", false
}
