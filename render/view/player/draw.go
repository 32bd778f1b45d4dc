package player

import (
	"fmt"
	"time"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/statusbar"
	"github.com/longterm-dev/longterm/vterm"
)

// draw shows the recording's screen and the bar below it.
func (p *player) draw() {
	w, h := p.canvas.Size()
	if p.needsRedraw {
		p.canvas.Clear()
		p.screen = render.Screen{}
		p.pictures.rows = nil
		p.needsRedraw = false
	}
	if p.engine != nil && p.engine.Version() != p.screen.Version {
		p.engine.Frame(&p.frame, vterm.Query{Since: p.screen.Version})
		render.FromFrame(&p.screen, &p.frame)
		p.pictures.note(p.screen.Lines)
		p.blocks.Show(p.ctx, &p.screen)
		p.pictures.noteChanged(p.screen.Lines)
		modes := p.engine.Modes()
		for i := range p.screen.Lines {
			if l := &p.screen.Lines[i]; l.Row < h-1 {
				p.canvas.Line(layout.Rect{X: 0, Y: l.Row, W: w, H: 1}, l, p.screen.Cols, 0, modes.ReverseVideo)
			}
		}
	}
	p.drawBar(w, h)
	p.drawCursor(w, h)
	p.drawPictures(w, h)
	p.canvas.Show()
}

func (p *player) drawCursor(w, h int) {
	c := p.screen.Cursor
	if p.searchText != nil || !c.Visible || c.X >= w || c.Y >= h-1 {
		p.canvas.HideCursor()
		return
	}
	p.canvas.ShowCursor(c.X, c.Y, canvas.CursorStyle(c))
}

// drawBar draws the last row: state, position, speed, title and time; on the right the keys or a message. Parts that do
// not fit are omitted as a whole.
func (p *player) drawBar(w, h int) {
	if h < 2 {
		return
	}
	sign, space := "►", "Space pause"
	switch {
	case p.atEnd && p.next == nil:
		sign = "■"
	case p.paused:
		sign, space = "║", "Space play" // what is made for the sign is in few fonts
	}
	left := []string{fmt.Sprintf("%s %s / %s", sign, statusbar.Clock(p.at.Sub(p.start)), statusbar.Clock(p.end.Sub(p.start))), fmt.Sprintf("×%g", p.o.Speed)}
	if p.o.Title != "" {
		left = append(left, statusbar.Cut(p.o.Title, max(12, w/3)))
	}
	if p.start.Unix() > 0 { // else it is not known when it was made
		left = append(left, p.at.Local().Format(time.DateTime))
	}
	said := ""
	switch {
	case p.searchText != nil:
		said = "find: " + *p.searchText + "▏"
	case p.message != "":
		said = p.message
	}
	said = statusbar.Cut(said, w-2)
	text := joinFitting(w-3-canvas.TextWidth(said), "  ", left)
	if said == "" {
		said = joinFitting(w-3-canvas.TextWidth(text), " · ", append([]string{space}, hints...))
	}
	p.canvas.Fill(0, h-1, w, statusBar)
	p.canvas.Text(1, h-1, w-1, text, statusBar)
	p.canvas.Text(max(0, w-1-canvas.TextWidth(said)), h-1, w, said, statusBar)
}

// joinFitting joins the leading parts that fit w columns.
func joinFitting(w int, between string, parts []string) string {
	text := ""
	for i, part := range parts {
		if i > 0 {
			part = between + part
		}
		if canvas.TextWidth(text)+canvas.TextWidth(part) > w {
			break
		}
		text += part
	}
	return text
}

// statusBar is the player's own style: the terminal's colours, reversed.
var statusBar = canvas.Plain.Reverse(true).Dim(true)
