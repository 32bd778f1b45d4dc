package view

import (
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/overlays"
	"github.com/longterm-dev/longterm/vterm/input"
)

// growBy is how much a pane grows with one key, in cells.
const growBy = 4

// action is what a key after the prefix does.
type action func(v *viewer, k input.Key)

// actions has one row for every action of keymap.Prefix, which says what it is called, what
// help says of it and which keys it has by default.
var actions map[keymap.Action]action

func init() { // a table that its own functions refer to
	actions = map[keymap.Action]action{
		"new":            always(newHere),
		"pick":           always(openPicker),
		"overview":       always(openOverview),
		"details":        always(openDetails),
		"next-alert":     always(goToAlert),
		"approvals":      always(openApprovals),
		"errors":         always(openProblems),
		"kill":           always(askKill),
		"close":          always(closePane),
		"restart":        always(restart),
		"rename":         always(askRename),
		"error-next":     stepProblem(1),
		"error-previous": stepProblem(-1),
		"go":             func(v *viewer, k input.Key) { v.goToPane(int(k.Code - '0')) },

		"split-right": always(func(v *viewer) { split(v, false) }),
		"split-down":  always(func(v *viewer) { split(v, true) }),
		"next":        step(1),
		"previous":    step(-1),
		"last":        always(lastPane),
		"pane-go":     always(askPane),
		"left":        toward(-1, 0),
		"down":        toward(0, 1),
		"up":          toward(0, -1),
		"right":       toward(1, 0),
		"zoom":        always(func(v *viewer) { v.m.Zoomed = !v.m.Zoomed }),
		"wider":       growing(false, 1),
		"narrower":    growing(false, -1),
		"taller":      growing(true, 1),
		"shorter":     growing(true, -1),
		"even":        always(func(v *viewer) { v.m.Even(v.paneArea()) }),
		"arrange":     always(rearrange),
		"tiles":       arranged("tiles"),
		"main-left":   arranged("main left"),
		"main-above":  arranged("main above"),
		"columns":     arranged("columns"),
		"rows":        arranged("rows"),
		"swap":        always(func(v *viewer) { v.m.Swap(v.paneArea(), 1) }),
		"swap-before": always(func(v *viewer) { v.m.Swap(v.paneArea(), -1) }),

		"floats":      always(toggleFloats),
		"float":       always(toggleFloat),
		"float-new":   always(newFloat),
		"float-left":  moving(-1, 0),
		"float-down":  moving(0, 1),
		"float-up":    moving(0, -1),
		"float-right": moving(1, 0),
		"pin":         always(togglePin),
		"stack":       always(toggleStack),
		"frames":      always(func(v *viewer) { v.unframed = !v.unframed }),

		"past": always(openPast),

		"tab-new":      always(newTab),
		"tab-next":     always(func(v *viewer) { v.m.StepTab(1) }),
		"tab-previous": always(func(v *viewer) { v.m.StepTab(-1) }),
		"tab-last":     always(lastTab),
		"tab-go":       func(v *viewer, k input.Key) { v.goToTab(string(rune(k.Code))) },
		"tab-move":     always(moveToTab),
		"tab-rename":   always(askTabName),
		"tab-close":    always(closeTab),
		"reopen":       always(reopen),
		"all":          always(func(v *viewer) { v.m.ToggleAll() }),
		"layout-save":  always(askLayoutName),
		"layout-load":  always(openLayouts),

		"scroll":           startScroll,
		"search":           always(startSearch),
		"command-previous": always(lastCommand),
		"paste":            always(pasteCopied),
		"copy-output":      always(copyLast),

		"shell":     always(func(v *viewer) { openFooter(v, "shell") }),
		"prompt":    always(func(v *viewer) { openFooter(v, "prompt") }),
		"sync":      always(func(v *viewer) { t := v.m.Tab(); t.Sync, v.fresh = !t.Sync, true }),
		"read-only": always(func(v *viewer) { v.m.ReadOnly = !v.m.ReadOnly }),
		"follow":    always(func(v *viewer) { v.m.Follow = !v.m.Follow }),
		"size":      always(openSizes),

		"palette": always(openPalette),
		"theme":   always(nextTheme),
		"help":    always(func(v *viewer) { v.open(&overlays.Help{}) }),
		"quit":    always(func(v *viewer) { v.quit = true }),
	}
}

// always is an action that is the same whatever its key.
func always(f func(v *viewer)) action { return func(v *viewer, _ input.Key) { f(v) } }

func step(n int) action { return always(func(v *viewer) { v.m.Step(n) }) }

// toward goes to the pane beside, which a zoomed one hides.
func toward(dx, dy int) action {
	return always(func(v *viewer) {
		if v.m.Zoomed {
			v.m.Zoomed = false
			v.arrange()
		}
		v.m.Toward(dx, dy)
	})
}

// growing has the pane grow (1) or shrink (-1).
func growing(stacked bool, way int) action {
	return func(v *viewer, k input.Key) {
		move := v.m.Grow
		if v.pointing(k) {
			move = v.m.MoveBorder
		}
		if !move(v.paneArea(), stacked, way*v.growBy(stacked, k)) {
			v.message = noBorder
		}
	}
}

// pointing reports that a key says where a border moves to, as with tmux's and zellij's keys, whichever side of it the pane is on.
// Our own say what becomes of the pane.
func (v *viewer) pointing(k input.Key) bool {
	if !v.o.Tmux && len(v.o.Modes) == 0 {
		return false
	}
	switch k.Code {
	case input.KeyLeft, input.KeyDown, input.KeyUp, input.KeyRight:
		return true
	}
	return k.Mods == 0 && strings.ContainsRune("hjkl", k.Code)
}

// growBy is by how many cells a key resizes; one of tmux's by as many as there: one with Ctrl, five with Alt.
func (v *viewer) growBy(stacked bool, k input.Key) int {
	switch {
	case v.o.Tmux && k.Mods&input.Ctrl != 0:
		return 1
	case v.o.Tmux && k.Mods&input.Alt != 0:
		return 5
	case stacked:
		return growBy / 2
	}
	return growBy
}

// command does what a key after the prefix asks for.
func (v *viewer) command(k input.Key) {
	if k.Code == input.KeyEscape {
		return
	}
	if a := v.keys.AfterPrefix(k); a != "" {
		if actions[a](v, k); v.o.Tmux && keymap.Repeats(a) {
			v.repeats = v.o.Now().Add(v.o.Repeat)
		}
		return
	}
	if v.o.Tmux && v.tmuxKey(k) {
		return
	}
	v.message = "no such key; " + v.keys.Chord("help") + " lists them"
}

// emptyKey does what a key asks for while there is no session. One that may have been meant for the session that has just gone
// asks for nothing, nor do those that would take a line to run.
func (v *viewer) emptyKey(k input.Key) {
	a := v.keys.Direct(k)
	if a == "" && !v.strays() {
		a = v.keys.AfterPrefix(k)
	}
	if slices.Contains([]keymap.Action{"new", "quit", "help", "pick", "overview", "palette", "approvals"}, a) {
		actions[a](v, k)
	}
}

// strayTime is how long nothing has to be typed after the last session is gone, until keys are for the viewer.
const strayTime = time.Second

// strays says that a key is one of those that were being typed when the last session went.
func (v *viewer) strays() bool {
	now := v.o.Now()
	if v.emptied.IsZero() || now.Sub(v.emptied) >= strayTime {
		return false
	}
	v.emptied = now
	return true
}

// paneArea is where the panes are.
func (v *viewer) paneArea() layout.Rect {
	area, _ := v.areas()
	return area
}
