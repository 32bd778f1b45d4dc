package statusbar

import (
	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/canvas"
)

// segment is a piece of text with a style.
type segment struct {
	text  string
	style tcell.Style
}

func segmentsWidth(list []segment) int {
	w := 0
	for _, s := range list {
		w += canvas.TextWidth(canvas.Printable(s.text))
	}
	return w
}

// row draws segments into a row; left ones are truncated to the space that right ones leave.
func row(c *canvas.Canvas, x, y, w int, left, right []segment, background tcell.Style) {
	room := max(0, w-segmentsWidth(right))
	at := 0
	for _, s := range left {
		n := min(canvas.TextWidth(canvas.Printable(s.text)), room-at)
		if n <= 0 {
			break
		}
		c.Text(x+at, y, n, s.text, s.style)
		at += n
	}
	if segmentsWidth(left) > room && room > 2 {
		c.Sign(x+room-1, y, "…", background)
	}
	c.Fill(x+at, y, room-at, background)
	at = room
	for _, s := range right {
		n := min(canvas.TextWidth(canvas.Printable(s.text)), w-at)
		c.Text(x+at, y, n, s.text, s.style)
		at += n
	}
}
