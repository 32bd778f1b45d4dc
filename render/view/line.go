package view

import (
	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render"
)

// line draws a line of a screen that is cols wide into a row of the terminal, cut or filled
// up to its width; nil is a row below that screen.
func (c *canvas) line(at rect, l *render.Line, cols int, reverse bool) {
	blank := plain.Reverse(reverse)
	if l == nil {
		c.fill(at.x, at.y, at.w, plain)
		return
	}
	col := 0
	for i := range l.Spans {
		s := &l.Spans[i]
		if s.Col < col || s.Col >= at.w || s.Width < 1 {
			continue
		}
		c.fill(at.x+col, at.y, s.Col-col, blank)
		col = s.Col + min(s.Width, at.w-s.Col)
		c.span(at, s, col, reverse)
	}
	if end := min(cols, at.w); col < end {
		c.fill(at.x+col, at.y, end-col, blank)
		col = end
	}
	c.fill(at.x+col, at.y, at.w-col, plain)
}

// span draws a span up to the column end.
func (c *canvas) span(at rect, s *render.Span, end int, reverse bool) {
	st := c.style(s, reverse)
	next := s.Col
	s.Characters(func(text string, col, width int) bool {
		if col+width > end {
			return false // the edge cuts a wide character
		}
		if s.Conceal {
			text = " "
		}
		c.put(at.x+col, at.y, width, text, st)
		next = col + width
		return true
	})
	c.fill(at.x+next, at.y, end-next, st)
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
