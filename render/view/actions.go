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

// growBy is the number of cells by which one key grows a pane.
const growBy = 4

// action is the function of a key after the prefix.
type action func(v *viewer, k input.Key)

// actions maps every action of keymap.Prefix to its function. keymap.Prefix holds the names, help texts and default
// keys.
var actions map[keymap.Action]action

func init() { // a table that its own functions refer to
	actions = map[keymap.Action]action{
		"new":            always(newHere),
		"pick":           always(openPicker),
		"overview":       always(openOverview),
		"details":        always(openDetails),
		"next-alert":     always(goToAlert),
		"approvals":      always(func(v *viewer) { openApprovals(v, "") }),
		"inbox":          always(openInbox),
		"changes":        always(openChanges),
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
		"wider":       growAction(false, 1),
		"narrower":    growAction(false, -1),
		"taller":      growAction(true, 1),
		"shorter":     growAction(true, -1),
		"even":        always(func(v *viewer) { v.m.Even(v.paneArea()) }),
		"arrange":     always(rearrange),
		"tiles":       arrangeAs("tiles"),
		"main-left":   arrangeAs("main left"),
		"main-above":  arrangeAs("main above"),
		"columns":     arrangeAs("columns"),
		"rows":        arrangeAs("rows"),
		"swap":        always(func(v *viewer) { v.m.Swap(v.paneArea(), 1) }),
		"swap-before": always(func(v *viewer) { v.m.Swap(v.paneArea(), -1) }),

		"floats":      always(toggleFloats),
		"float":       always(toggleFloat),
		"float-new":   always(newFloat),
		"float-left":  moveFloatAction(-1, 0),
		"float-down":  moveFloatAction(0, 1),
		"float-up":    moveFloatAction(0, -1),
		"float-right": moveFloatAction(1, 0),
		"pin":         always(togglePin),
		"stack":       always(toggleStack),
		"frames":      always(func(v *viewer) { v.framesToggled = !v.framesToggled }),

		"past": always(openPlayback),

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
		"sync":      always(func(v *viewer) { t := v.m.Tab(); t.Sync, v.needsRedraw = !t.Sync, true }),
		"read-only": always(func(v *viewer) { v.m.ReadOnly = !v.m.ReadOnly }),
		"follow":    always(func(v *viewer) { v.m.Follow = !v.m.Follow }),
		"size":      always(openSizes),

		"palette": always(openPalette),
		"theme":   always(nextTheme),
		"help":    always(func(v *viewer) { v.open(&overlays.Help{}) }),
		"quit":    always(func(v *viewer) { v.quit = true }),
	}
}

// always returns an action that ignores its key.
func always(f func(v *viewer)) action { return func(v *viewer, _ input.Key) { f(v) } }

// step returns an action that moves the focus by n panes.
func step(n int) action { return always(func(v *viewer) { v.m.Step(n) }) }

// toward returns an action that moves the focus to the neighbouring pane, and ends the zoom that hides it.
func toward(dx, dy int) action {
	return always(func(v *viewer) {
		if v.m.Zoomed {
			v.m.Zoomed = false
			v.arrange()
		}
		v.m.Toward(dx, dy)
	})
}

// growAction returns an action that grows (direction 1) or shrinks (direction -1) the focused pane.
func growAction(stacked bool, direction int) action {
	return func(v *viewer, k input.Key) {
		move := v.m.Grow
		if v.hasDirection(k) {
			move = v.m.MoveBorder
		}
		if !move(v.paneArea(), stacked, direction*v.growBy(stacked, k)) {
			v.message = noBorder
		}
	}
}

// hasDirection reports whether a key moves a border in the key's direction, as in tmux and zellij. longterm's own keys grow
// or shrink the pane instead.
func (v *viewer) hasDirection(k input.Key) bool {
	if !v.o.Tmux && len(v.o.Modes) == 0 {
		return false
	}
	switch k.Code {
	case input.KeyLeft, input.KeyDown, input.KeyUp, input.KeyRight:
		return true
	}
	return k.Mods == 0 && strings.ContainsRune("hjkl", k.Code)
}

// growBy returns the number of cells by which a key resizes. tmux's keys resize by 1 with Ctrl and 5 with Alt, as in
// tmux.
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

// command runs the action of a key that follows the prefix.
func (v *viewer) command(k input.Key) {
	if k.Code == input.KeyEscape {
		return
	}
	if a := v.keys.AfterPrefix(k); a != "" {
		if actions[a](v, k); v.o.Tmux && keymap.Repeats(a) {
			v.repeatUntil = v.o.Now().Add(v.o.Repeat)
		}
		return
	}
	if v.o.Tmux && v.tmuxKey(k) {
		return
	}
	v.message = "key not bound; " + v.keys.Chord("help") + " lists the keys"
}

// emptyKey runs the action of a key while no session exists. It ignores keys that were probably meant for the session
// that just ended, and actions that start a command line.
func (v *viewer) emptyKey(k input.Key) {
	a := v.keys.Direct(k)
	if a == "" && !v.isStrayKey() {
		a = v.keys.AfterPrefix(k)
	}
	if slices.Contains([]keymap.Action{"new", "quit", "help", "pick", "overview", "palette", "approvals", "inbox"}, a) {
		actions[a](v, k)
	}
}

// strayTime is how long after the last session ended no key may arrive before keys act on the viewer.
const strayTime = time.Second

// isStrayKey reports whether a key belongs to text that was being typed when the last session ended.
func (v *viewer) isStrayKey() bool {
	now := v.o.Now()
	if v.emptySince.IsZero() || now.Sub(v.emptySince) >= strayTime {
		return false
	}
	v.emptySince = now
	return true
}

// paneArea returns the rectangle of the panes.
func (v *viewer) paneArea() layout.Rect {
	area, _ := v.areas()
	return area
}
