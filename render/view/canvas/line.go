package canvas

import (
	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/view/layout"
)

// Plain is the terminal's default style.
var Plain = tcell.StyleDefault

// Line draws a line of a screen of cols columns into a row of the terminal, from column left on, truncated or filled to
// the row's width. nil is a row below the screen.
func (c *Canvas) Line(at layout.Rect, l *render.Line, cols, left int, reverse bool) {
	blank := Plain.Reverse(reverse)
	if l == nil {
		c.Fill(at.X, at.Y, at.W, Plain)
		return
	}
	col, edge := left, left+at.W
	x := func(col int) int { return at.X + col - left }
	for i := range l.Spans {
		s := &l.Spans[i]
		if s.Col+s.Width <= col || s.Col >= edge || s.Width < 1 || s.Col < col && (i > 0 || left == 0) {
			continue
		}
		if s.Col > col {
			c.Fill(x(col), at.Y, s.Col-col, blank)
		}
		from := max(s.Col, col)
		col = s.Col + min(s.Width, edge-s.Col)
		c.span(x, at.Y, s, from, col, reverse)
	}
	if end := min(cols, edge); col < end {
		c.Fill(x(col), at.Y, end-col, blank)
		col = end
	}
	c.Fill(x(col), at.Y, edge-col, Plain)
	if c.override == nil {
		return
	}
	for _, p := range l.Pictures { // blocks that are all of one colour show nothing
		if from, end := max(p.Col, left), min(p.Col+p.Width, edge); from < end {
			c.Fill(x(from), at.Y, end-from, Plain)
		}
	}
}

// span draws the columns [from, end) of a span. x converts a column to a position.
func (c *Canvas) span(x func(int) int, y int, s *render.Span, from, end int, reverse bool) {
	st := c.style(s, reverse)
	next := from
	s.Characters(func(text string, col, width int) bool {
		if col < from { // the left edge cuts a wide character
			return true
		}
		if col+width > end {
			return false // the right one does
		}
		if col > next {
			c.Fill(x(next), y, col-next, st)
		}
		if s.Conceal {
			text = " "
		}
		c.Put(x(col), y, width, text, st)
		next = col + width
		return true
	})
	c.Fill(x(next), y, end-next, st)
}

// CursorStyle returns a session's cursor style for the user's terminal.
func CursorStyle(c render.Cursor) tcell.CursorStyle {
	switch {
	case c.Shape == "underline" && c.Blink:
		return tcell.CursorStyleBlinkingUnderline
	case c.Shape == "underline":
		return tcell.CursorStyleSteadyUnderline
	case c.Shape == "bar" && c.Blink:
		return tcell.CursorStyleBlinkingBar
	case c.Shape == "bar":
		return tcell.CursorStyleSteadyBar
	}
	return tcell.CursorStyleDefault
}
