package overlays

import (
	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/layout"
)

// DrawWelcome draws a card with the basics for new users at the bottom of the panes, if it fits.
func DrawWelcome(s *Screen, area layout.Rect) {
	rows := welcomeRows(s.Keys)
	w := 0
	for _, r := range rows {
		w = max(w, welcomeKeyWidth+canvas.TextWidth(r.text)+4)
	}
	at := layout.Rect{X: area.X + (area.W-w)/2, Y: area.Y + area.H - len(rows) - 3, W: w, H: len(rows) + 2}
	if area.W < w+2 || area.H < 2*at.H {
		return
	}
	s.frame(at, "Welcome to longterm")
	for i, r := range rows {
		x, y := at.X+2, at.Y+1+i
		if r.key == "" {
			s.Canvas.Text(x, y, w-4, r.text, s.Theme.Panel)
			continue
		}
		s.Canvas.Text(x, y, welcomeKeyWidth, r.key, s.Theme.PanelKey)
		s.Canvas.Text(x+welcomeKeyWidth, y, w-4-welcomeKeyWidth, r.text, s.Theme.Panel)
	}
}

const welcomeKeyWidth = 4

type welcomeRow struct{ key, text string }

func welcomeRows(keys *keymap.Map) []welcomeRow {
	rows := []welcomeRow{{"", "Type: keys go to the session. After " + keys.PrefixName + ":"}}
	for _, r := range []struct {
		action keymap.Action
		text   string
	}{
		{"new", "another session"}, {"split-right", "split the pane"}, {"overview", "all sessions, by urgency"},
		{"palette", "everything else, by name"}, {"help", "all keys"}, {"quit", "leave; sessions keep running, `longterm` reopens"},
	} {
		if key := keys.PrefixLabel(r.action); key != "" {
			rows = append(rows, welcomeRow{key, r.text})
		}
	}
	return append(rows, welcomeRow{"", "Press any key to close this."})
}
