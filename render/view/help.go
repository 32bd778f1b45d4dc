package view

import (
	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/vterm/input"
)

// help lists the keys. It is scrolled by keys that scroll; any other closes it.
type help struct {
	top   int
	lines int
	area  layout.Rect
}

type helpLine struct{ key, text string }

func (v *viewer) helpLines() []helpLine {
	prefix := v.keys.PrefixName
	lines := []helpLine{
		{"", "Keys go to the focused session. After " + prefix + ":"},
	}
	group := ""
	for i := range v.keys.Prefix {
		r := &v.keys.Prefix[i]
		if r.Group != group {
			group = r.Group
			lines = append(lines, helpLine{"", ""}, helpLine{"", group})
		}
		lines = append(lines, helpLine{r.Labels(), r.Help})
	}
	lines = append(lines, helpLine{"", ""}, helpLine{"", "While looking back"})
	for i := range v.keys.Scroll {
		r := &v.keys.Scroll[i]
		lines = append(lines, helpLine{r.Labels(), r.Help})
	}
	return append(lines,
		helpLine{"", ""}, helpLine{"", "Mouse"},
		helpLine{"click", "focus a pane, choose a tab"},
		helpLine{"drag", "select and copy; Alt: a rectangle; a border: move it"},
		helpLine{"2 or 3 clicks", "select and copy a word, a row"},
		helpLine{"wheel", "look back, or scroll the program"},
		helpLine{"", ""}, helpLine{prefix + " twice", "sends " + prefix + " to the session"},
	)
}

func (h *help) draw(v *viewer) {
	lines := v.helpLines()
	h.lines = len(lines)
	box := v.box(78, len(lines)+3, "Help: arrows scroll. Any key closes this.")
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
			v.canvas.Text(x+1, y, h.area.W-1, l.text, v.theme.PanelKey)
			continue
		}
		v.canvas.Text(x+2, y, min(keyWidth, h.area.W-2), l.key, v.theme.PanelKey)
		v.canvas.Text(x+2+keyWidth, y, max(0, h.area.W-2-keyWidth), l.text, v.theme.Panel)
	}
	v.canvas.HideCursor()
}

func (h *help) key(v *viewer, k input.Key) {
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
		v.closeOverlay()
	}
}

func (h *help) paste(*viewer, string) {}

func (h *help) mouse(v *viewer, e *tcell.EventMouse, held tcell.ButtonMask) {
	switch b := e.Buttons(); {
	case b&tcell.WheelUp != 0:
		h.top -= 3
	case b&tcell.WheelDown != 0:
		h.top += 3
	case b&tcell.ButtonPrimary != 0 && held == 0:
		v.closeOverlay()
	}
}
