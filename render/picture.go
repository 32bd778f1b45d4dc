package render

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/render/boxdraw"
	"github.com/longterm-dev/longterm/vterm"
)

// PictureOptions controls how a screen is drawn as HTML, SVG or pixels.
type PictureOptions struct {
	Theme Theme
	// NoCursor omits the cursor.
	NoCursor bool
	// CursorShape is block, underline or bar; "" keeps the program's shape.
	CursorShape string
	// Scale is the size; 1 (or 0) means a font of 16 pixels.
	Scale float64
	// Padding is the space around the cells, in pixels at scale 1.
	Padding int
	// Window draws a title bar, round corners and a shadow around the padding.
	Window bool
	// Margin is the space around the window or the padding, in pixels at scale 1, filled with MarginColor.
	Margin      int
	MarginColor uint32
}

// Size of a cell at scale 1, and of a font with that advance, in pixels. The advance is 0.602 em, like most monospaced
// fonts.
const (
	CellWidth  = 10
	CellHeight = 20
	FontSize   = 16.611
	baseline   = 15
	lineWidth  = 1.3 // width of light box drawing and underlines, before rounding
)

// ScaleFactor returns the scale, never zero.
func (o *PictureOptions) ScaleFactor() float64 {
	if o.Scale <= 0 {
		return 1
	}
	return o.Scale
}

// CursorOn returns the shape of the screen's cursor and its position in Grid. The shape is empty if no cursor is drawn.
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

// Grid returns the lines of history and screen in one list; missing rows are empty.
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

// chunk is a piece of a line that becomes one element.
type chunk struct {
	text       string
	col, width int
	span       *Span
	paint      Paint
	// drawn is the character to draw as a shape; text consists of repetitions of it.
	drawn rune
	// alone is set for a character whose width a font may get wrong.
	alone  bool
	cursor string // cursor shape in this piece; "": none
}

// chunks splits a line into pieces that keep their columns in any font: runs of characters that monospaced fonts have,
// and single other characters. It skips gaps between spans.
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
		joins := c.cursor == "" && !c.alone && (c.drawn == 0 || isTileable(c.drawn))
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

// classify sets drawn and alone.
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

// isTileable reports whether a shape looks the same when stretched over several cells.
func isTileable(r rune) bool {
	return r == 0x2500 || r == 0x2501 || r == 0x2550 || r >= 0x2580 && r <= 0x2588 || r == 0x2594
}

// cleanText returns text that is safe in HTML and XML: invalid XML characters are replaced, and characters that change
// the text direction are removed.
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

// PictureTitle returns a screen's title as pictures show it.
func PictureTitle(title string) string {
	if title = cleanText(title); strings.TrimSpace(title) == "" {
		return "Terminal"
	}
	return title
}

// safeLink returns a hyperlink's target if users may follow it from a page: output is untrusted, and javascript: is a
// target too.
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
