package player

import (
	"fmt"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/view/bars"
	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/vterm"
)

// draw shows the recording's screen and the bar below it.
func (p *player) draw() {
	w, h := p.canvas.Size()
	if p.fresh {
		p.canvas.Clear()
		p.screen = render.Screen{}
		p.fresh = false
	}
	if p.engine != nil && p.engine.Version() != p.screen.Version {
		p.engine.Frame(&p.frame, vterm.Query{Since: p.screen.Version})
		render.FromFrame(&p.screen, &p.frame)
		modes := p.engine.Modes()
		for i := range p.screen.Lines {
			if l := &p.screen.Lines[i]; l.Row < h-1 {
				p.canvas.Line(layout.Rect{X: 0, Y: l.Row, W: w, H: 1}, l, p.screen.Cols, 0, modes.ReverseVideo)
			}
		}
	}
	p.drawBar(w, h)
	p.drawCursor(w, h)
	p.canvas.Show()
}

func (p *player) drawCursor(w, h int) {
	c := p.screen.Cursor
	if p.find != nil || !c.Visible || c.X >= w || c.Y >= h-1 {
		p.canvas.HideCursor()
		return
	}
	p.canvas.ShowCursor(c.X, c.Y, canvas.CursorStyle(c))
}

// drawBar draws the last row: state, position, speed; on the right a hint.
func (p *player) drawBar(w, h int) {
	if h < 2 {
		return
	}
	sign := "►"
	switch {
	case p.over && p.next == nil:
		sign = "■"
	case p.paused:
		sign = "║" // what is made for it is in few fonts
	}
	left := fmt.Sprintf(" %s %s / %s  ×%g  %s", sign, bars.Clock(p.at.Sub(p.start)), bars.Clock(p.end.Sub(p.start)), p.o.Speed, p.o.Title)
	if p.start.Unix() > 0 { // else it is not known when it was made
		left += p.at.Local().Format("  " + time.DateTime)
	}
	right := hint
	switch {
	case p.find != nil:
		right = "find: " + *p.find + "▏"
	case p.message != "":
		right = p.message
	}
	bar(&p.canvas, h-1, w, left, right)
}

// statusBar is the player's own look: the person's colours, reversed.
var statusBar = canvas.Plain.Reverse(true).Dim(true)

// bar draws a row with text at both ends; the right one is cut when both do not fit.
func bar(c *canvas.Canvas, y, w int, left, right string) {
	right = " " + right + " "
	rw := min(len([]rune(right)), max(0, w-len([]rune(strings.TrimRight(left, " ")))-1))
	c.Text(0, y, w-rw, left, statusBar)
	c.Text(w-rw, y, rw, right, statusBar)
}
