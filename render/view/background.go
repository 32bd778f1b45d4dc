package view

import (
	"os"
	"time"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/theme"
	"github.com/longterm-dev/longterm/vterm"
)

// backgroundState tracks the terminal's background.
type backgroundState struct {
	current theme.Background
	waiting bool // nothing is drawn until the terminal has answered, or the timeout passed
}

// backgroundTimeout is how long the first drawing waits for the report of the terminal's background.
const backgroundTimeout = 150 * time.Millisecond

// insideTmux reports whether tmux runs between the viewer and the user's terminal.
func insideTmux() bool { return os.Getenv("TMUX") != "" }

// watchBackground queries the terminal's background and applies each report, now and later.
func (v *viewer) watchBackground(reports <-chan theme.Background) {
	if !canvas.QueryBackground(v.o.Screen, insideTmux()) {
		return
	}
	if v.o.Theme == nil && !v.o.NoColor {
		v.background.waiting = true
		v.after(backgroundTimeout, func() { v.background.waiting = false })
	}
	v.spawn(func() {
		for {
			select {
			case g := <-reports:
				v.later(func() { v.setBackground(g) })
			case <-v.ctx.Done():
				return
			}
		}
	})
}

// setBackground applies the theme that suits the terminal's background, unless the user chose one.
func (v *viewer) setBackground(g theme.Background) {
	v.background.waiting = false
	if v.background.current == g {
		return
	}
	v.background.current = g
	if v.o.Theme != nil || v.chosen != "" || v.o.NoColor {
		return
	}
	if t := v.o.defaultTheme(g); t != v.theme {
		v.theme, v.needsRedraw = t, true
	}
}

// forwardOuter passes the terminal's answers about itself on to the sessions.
func (v *viewer) forwardOuter() {
	known := make(chan vterm.Outer, 16)
	canvas.OnOuter(v.o.Screen, func(o vterm.Outer) {
		select {
		case known <- o:
		default: // colours do not change so often
		}
	})
	v.spawn(func() {
		for {
			select {
			case o := <-known:
				v.later(func() { v.panes.SetOuter(o) })
			case <-v.ctx.Done():
				return
			}
		}
	})
}
