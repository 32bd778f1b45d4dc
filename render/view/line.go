package view

import (
	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render"
)

// plain is the terminal's own look.
var plain = tcell.StyleDefault

// line draws a line of a screen that is cols wide into a row of the terminal, from a
// column on, cut or filled up to its width; nil is a row below that screen.
func (c *canvas) line(at rect, l *render.Line, cols, left int, reverse bool) {
	blank := plain.Reverse(reverse)
	if l == nil {
		c.fill(at.X, at.Y, at.W, plain)
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
			c.fill(x(col), at.Y, s.Col-col, blank)
		}
		from := max(s.Col, col)
		col = s.Col + min(s.Width, edge-s.Col)
		c.span(x, at.Y, s, from, col, reverse)
	}
	if end := min(cols, edge); col < end {
		c.fill(x(col), at.Y, end-col, blank)
		col = end
	}
	c.fill(x(col), at.Y, edge-col, plain)
}

// span draws the columns [from, end) of a span.
func (c *canvas) span(x func(int) int, y int, s *render.Span, from, end int, reverse bool) {
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
			c.fill(x(next), y, col-next, st)
		}
		if s.Conceal {
			text = " "
		}
		c.put(x(col), y, width, text, st)
		next = col + width
		return true
	})
	c.fill(x(next), y, end-next, st)
}

// cursorStyle is a session's cursor on the person's terminal.
func cursorStyle(c render.Cursor) tcell.CursorStyle {
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
