package overlays

import (
	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/statusbar"
	"github.com/longterm-dev/longterm/render/view/theme"
	"github.com/longterm-dev/longterm/vterm/input"
)

// Overlay receives keyboard and mouse until it closes.
type Overlay interface {
	Draw(s *Screen)
	Key(k input.Key) Result
	Paste(text string) Result
	// Mouse handles presses, motion and wheels; held are the buttons that were pressed before.
	Mouse(e *tcell.EventMouse, held tcell.ButtonMask) Result
}

// Result is what to do after an event: close the overlay, and run a function then.
type Result struct {
	Close bool
	Then  func() // nil means nothing
}

var closed = Result{Close: true}

// Screen is the drawing target of overlays.
type Screen struct {
	Canvas  *canvas.Canvas
	Theme   *theme.Theme
	Keys    *keymap.Map
	Bar     *statusbar.Bar
	Preview func(at layout.Rect, session string) // draws a session's live screen; an empty id draws nothing
}

// Minimum sizes of the terminal for panel borders, in cells.
const (
	framedFrom     = 40
	framedFromRows = 10
)

// Covers reports whether an overlay is drawn over the panes, which are then dimmed; others are lines in the bar.
func Covers(o Overlay) bool {
	switch o := o.(type) {
	case nil, *DigitPrompt:
		return false
	case *Confirmation:
		return Covers(o.Behind)
	case *Prompt:
		return Covers(o.Behind)
	}
	return true
}

// box draws a panel with a title over the panes and returns the area of its content.
func (s *Screen) box(w, h int, title string) layout.Rect {
	cols, rows := s.Canvas.Size()
	area, _ := statusbar.Split(cols, rows)
	if area.W < framedFrom || area.H < framedFromRows {
		w, h = min(w, area.W), min(h+1, area.H)
		at := layout.Rect{X: (area.W - w) / 2, Y: max(0, (area.H-h)/3), W: w, H: h}
		for y := range h {
			s.Canvas.Fill(at.X, at.Y+y, w, s.Theme.Panel)
		}
		s.Canvas.Text(at.X, at.Y, w, cut(" "+title, w), s.Theme.PanelTitle)
		return layout.Rect{X: at.X, Y: at.Y + 1, W: w, H: max(0, h-1)}
	}
	w, h = min(w+2, area.W), min(h+2, area.H)
	at := layout.Rect{X: (area.W - w) / 2, Y: max(0, (area.H-h)/3), W: w, H: h}
	s.frame(at, title)
	return layout.Rect{X: at.X + 1, Y: at.Y + 1, W: w - 2, H: h - 2}
}

// frame draws a border with a title in it around an empty panel.
func (s *Screen) frame(at layout.Rect, title string) {
	edge := s.Theme.PanelEdge
	right, bottom := at.X+at.W-1, at.Y+at.H-1
	for y := at.Y; y <= bottom; y++ {
		left, fill, end := "│", " ", "│"
		switch y {
		case at.Y:
			left, fill, end = "┌", "─", "┐"
		case bottom:
			left, fill, end = "└", "─", "┘"
		}
		s.Canvas.Sign(at.X, y, left, edge)
		for x := at.X + 1; x < right; x++ {
			s.Canvas.Sign(x, y, fill, edge)
		}
		s.Canvas.Sign(right, y, end, edge)
	}
	if title != "" {
		title = cut(" "+title, at.W-5) + " "
		s.Canvas.Text(at.X+2, at.Y, canvas.TextWidth(title), title, s.Theme.PanelTitle)
	}
}

// cut returns a text shortened to w columns, with a mark.
func cut(text string, w int) string { return statusbar.Cut(text, w) }
