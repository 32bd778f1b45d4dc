package overlays

import (
	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/vterm/input"
)

// Help lists the keys. It is scrolled by keys that scroll; any other closes it.
type Help struct {
	top   int
	lines int
	area  layout.Rect
}

type helpLine struct{ key, text string }

func helpLines(keys *keymap.Map) []helpLine {
	prefix := keys.PrefixName
	lines := []helpLine{
		{"", "Keys go to the focused session. After " + prefix + ":"},
	}
	group := ""
	for i := range keys.Prefix {
		r := &keys.Prefix[i]
		if r.Group != group {
			group = r.Group
			lines = append(lines, helpLine{"", ""}, helpLine{"", group})
		}
		lines = append(lines, helpLine{r.Labels(), r.Help})
	}
	lines = append(lines, helpLine{"", ""}, helpLine{"", "In copy mode"})
	for i := range keys.Scroll {
		r := &keys.Scroll[i]
		lines = append(lines, helpLine{r.Labels(), r.Help})
	}
	return append(lines,
		helpLine{"", ""}, helpLine{"", "Mouse"},
		helpLine{"click", "focus a pane, choose a tab"},
		helpLine{"drag", "select and copy; Alt: a rectangle; a border: move it"},
		helpLine{"2 or 3 clicks", "select and copy a word, a row"},
		helpLine{"wheel", "copy mode, or scroll the program"},
		helpLine{"", ""}, helpLine{prefix + " twice", "sends " + prefix + " to the session"},
	)
}

// Draw draws what fits.
func (h *Help) Draw(s *Screen) {
	lines := helpLines(s.Keys)
	h.lines = len(lines)
	box := s.box(78, len(lines)+3, "Help: arrows scroll. Any key closes this.")
	h.area = layout.Rect{X: box.X, Y: box.Y + 2, W: box.W, H: max(0, box.H-2)}
	h.top = max(0, min(h.top, h.lines-h.area.H))
	const keyWidth = 20
	for i := range h.area.H {
		if h.top+i >= len(lines) {
			break
		}
		l := lines[h.top+i]
		x, y := h.area.X, h.area.Y+i
		if l.key == "" {
			s.Canvas.Text(x+1, y, h.area.W-1, l.text, s.Theme.PanelKey)
			continue
		}
		s.Canvas.Text(x+2, y, min(keyWidth, h.area.W-2), l.key, s.Theme.PanelKey)
		s.Canvas.Text(x+2+keyWidth, y, max(0, h.area.W-2-keyWidth), l.text, s.Theme.Panel)
	}
	s.Canvas.HideCursor()
}

// Key scrolls or closes.
func (h *Help) Key(k input.Key) Result {
	switch k.Code {
	case input.KeyUp, 'k':
		h.top--
	case input.KeyDown, 'j':
		h.top++
	case input.KeyPageUp:
		h.top -= h.area.H
	case input.KeyPageDown, ' ':
		h.top += h.area.H
	case input.KeyHome:
		h.top = 0
	case input.KeyEnd:
		h.top = h.lines
	default:
		return closed
	}
	return Result{}
}

// Paste means nothing to it.
func (h *Help) Paste(string) Result { return Result{} }

// Mouse scrolls or closes.
func (h *Help) Mouse(e *tcell.EventMouse, held tcell.ButtonMask) Result {
	switch b := e.Buttons(); {
	case b&tcell.WheelUp != 0:
		h.top -= 3
	case b&tcell.WheelDown != 0:
		h.top += 3
	case b&tcell.ButtonPrimary != 0 && held == 0:
		return closed
	}
	return Result{}
}
