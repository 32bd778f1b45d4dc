package view

import (
	"fmt"
	"strings"

	"github.com/gdamore/tcell/v2"
)

// drawBar draws the last row: what the keys do now, or what there is to say.
func (v *viewer) drawBar() {
	w, h := v.canvas.screen.Size()
	_, bar := split(w, h)
	text, style := v.barText()
	if v.bar == text || bar.h == 0 {
		return
	}
	v.bar = text
	v.canvas.text(bar.x, bar.y, bar.w, text, style)
}

func (v *viewer) barText() (string, tcell.Style) {
	prefix := keyName(v.o.Prefix)
	shown, all := len(v.m.panes), len(v.m.visible())
	switch s := v.m.session(v.m.focus); {
	case v.m.mode == modeConfirm && s != nil:
		return " kill " + s.Name + "? y/n", askBar
	case v.m.mode == modePrefix:
		return hints(), askBar
	case v.m.message != "":
		return " " + v.m.message, askBar
	case v.m.away != "":
		return " reconnecting… " + v.m.away, askBar
	case !v.m.loaded:
		return " looking for sessions…", hintBar
	case all == 0:
		return " n: new session  q: quit", hintBar
	case v.m.zoomed && all > 1:
		return fmt.Sprintf(" zoomed; %s z shows all %d", prefix, all), hintBar
	case shown < all:
		return fmt.Sprintf(" %d of %d sessions fit; %s Tab goes on", shown, all, prefix), hintBar
	}
	return " " + prefix + ": commands, then ?: help", hintBar
}

func hints() string {
	var b strings.Builder
	for _, c := range commands {
		if c.hint != "" {
			fmt.Fprintf(&b, " %s %s ", c.label, c.hint)
		}
	}
	return b.String()
}

// drawHelp draws the list of keys over the panes.
func (v *viewer) drawHelp() {
	prefix := keyName(v.o.Prefix)
	lines := []string{"Keys go to the focused session. After " + prefix + ":", ""}
	for _, c := range commands {
		lines = append(lines, fmt.Sprintf("%-7s %s", c.label, c.help))
	}
	lines = append(lines, "", prefix+" twice sends it through.", "A click focuses a pane. Any key closes this.")
	v.drawBox(lines, plain.Reverse(true))
}

func (v *viewer) drawEmpty() {
	v.drawBox([]string{"No session runs here.", "", "n  start one", "q  quit"}, plain)
}

// drawBox draws lines in the middle of the terminal. All of them are narrow characters.
func (v *viewer) drawBox(lines []string, style tcell.Style) {
	w, h := v.canvas.screen.Size()
	area, _ := split(w, h)
	width := 0
	for _, l := range lines {
		width = max(width, len(l)+4)
	}
	width = min(width, area.w)
	if len(lines)+2 <= area.h {
		lines = append(append([]string{""}, lines...), "")
	}
	x, y := (area.w-width)/2, max(0, (area.h-len(lines))/2)
	for i := 0; i < len(lines) && y+i < area.h; i++ {
		v.canvas.text(x, y+i, width, "  "+lines[i], style)
	}
}
