package view

import (
	"os"
	"time"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/theme"
	"github.com/longterm-dev/longterm/vterm"
)

// ground is what is known of the terminal's background.
type ground struct {
	now     theme.Ground
	awaited bool // nothing is drawn before the terminal has answered, or could have
}

// groundTime is how long a terminal has to say what its background is before the first drawing.
const groundTime = 150 * time.Millisecond

// insideTmux says that tmux stands between the viewer and the person's terminal.
func insideTmux() bool { return os.Getenv("TMUX") != "" }

// listen asks the terminal for its background and takes what it says of it, now and later.
func (v *viewer) listen(said <-chan theme.Ground) {
	if !canvas.AskGround(v.o.Screen, insideTmux()) {
		return
	}
	if v.o.Theme == nil && !v.o.NoColor {
		v.ground.awaited = true
		v.after(groundTime, func() { v.ground.awaited = false })
	}
	v.spawn(func() {
		for {
			select {
			case g := <-said:
				v.later(func() { v.groundIs(g) })
			case <-v.ctx.Done():
				return
			}
		}
	})
}

// groundIs takes the theme that suits the terminal's background, unless the person chose one.
func (v *viewer) groundIs(g theme.Ground) {
	v.ground.awaited = false
	if v.ground.now == g {
		return
	}
	v.ground.now = g
	if v.o.Theme != nil || v.chosen != "" || v.o.NoColor {
		return
	}
	if t := v.o.fitting(g); t != v.theme {
		v.theme, v.fresh = t, true
	}
}

// listenOuter sends what the terminal answers about itself to the sessions.
func (v *viewer) listenOuter() {
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
