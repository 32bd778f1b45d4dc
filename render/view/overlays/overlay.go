package overlays

import (
	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/bars"
	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/theme"
	"github.com/longterm-dev/longterm/vterm/input"
)

// Overlay is something that takes keyboard and mouse until it closes.
type Overlay interface {
	Draw(s *Screen)
	Key(k input.Key) Result
	Paste(text string) Result
	// Mouse gets presses, motion and wheels; held are the buttons that were down before.
	Mouse(e *tcell.EventMouse, held tcell.ButtonMask) Result
}

// Result is what an overlay wants done: to be closed, and something after that.
type Result struct {
	Close bool
	Do    func() // nil: nothing
}

var closed = Result{Close: true}

// Screen is what an overlay draws on.
type Screen struct {
	Canvas  *canvas.Canvas
	Theme   *theme.Theme
	Keys    *keymap.Map
	Bar     *bars.Bar
	Preview func(at layout.Rect, session string) // shows a session's live screen; an empty id: nothing
}

// box is a panel over the panes, with a title in its first row.
func (s *Screen) box(w, h int, title string) layout.Rect {
	cols, rows := s.Canvas.Size()
	area, _ := bars.Split(cols, rows)
	w, h = min(w, area.W), min(h, area.H)
	at := layout.Rect{X: (area.W - w) / 2, Y: max(0, (area.H-h)/3), W: w, H: h}
	for y := range h {
		s.Canvas.Fill(at.X, at.Y+y, w, s.Theme.Panel)
	}
	if title != "" {
		s.Canvas.Text(at.X, at.Y, w, " "+title, s.Theme.PanelTitle)
	}
	return at
}
