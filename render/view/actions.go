package view

import (
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/overlays"
	"github.com/longterm-dev/longterm/render/view/theme"
	"github.com/longterm-dev/longterm/vterm/input"
)

// growBy is how much a pane grows with one key, in cells.
const growBy = 4

// actions are what the keys of keymap.Prefix do.
var actions map[keymap.Action]func(v *viewer, k input.Key)

func init() { // a table that its own functions refer to
	simple := func(f func(v *viewer)) func(*viewer, input.Key) { return func(v *viewer, _ input.Key) { f(v) } }
	step := func(n int) func(*viewer, input.Key) { return simple(func(v *viewer) { v.m.Step(n) }) }
	toward := func(dx, dy int) func(*viewer, input.Key) {
		return simple(func(v *viewer) { v.m.Toward(dx, dy) })
	}
	grow := func(stacked bool, by int) func(*viewer, input.Key) {
		return simple(func(v *viewer) { v.grow(stacked, by) })
	}
	tabs := func(n int) func(*viewer, input.Key) {
		return simple(func(v *viewer) { v.m.StepTab(n) })
	}
	actions = map[keymap.Action]func(*viewer, input.Key){
		"new": simple((*viewer).newHere), "pick": simple((*viewer).openPicker), "next-alert": simple((*viewer).goToAlert),
		"kill": simple((*viewer).askKill), "close": simple((*viewer).closePane), "restart": simple((*viewer).restart),
		"rename": simple((*viewer).askRename), "go": func(v *viewer, k input.Key) { v.m.Pick(int(k.Code - '1')) },

		"split-right": simple(func(v *viewer) { v.split(false) }), "split-down": simple(func(v *viewer) { v.split(true) }),
		"next": step(1), "previous": step(-1),
		"left": toward(-1, 0), "right": toward(1, 0), "up": toward(0, -1), "down": toward(0, 1),
		"zoom":  simple(func(v *viewer) { v.m.Zoomed = !v.m.Zoomed }),
		"wider": grow(false, growBy), "narrower": grow(false, -growBy), "taller": grow(true, growBy/2), "shorter": grow(true, -growBy/2),
		"even": simple(func(v *viewer) { v.m.Manual(v.paneArea()).Tree.Even() }), "arrange": simple((*viewer).rearrange),
		"swap": simple(func(v *viewer) { v.m.Swap(v.paneArea()) }),

		"tab-new": simple((*viewer).newTab), "tab-next": tabs(1), "tab-previous": tabs(-1), "tab-move": simple((*viewer).moveToTab),
		"tab-rename": simple((*viewer).askTabName), "tab-close": simple(func(v *viewer) { v.m.DropTab(v.m.Current) }),
		"all": simple(func(v *viewer) { v.m.ToggleAll() }), "layout-save": simple((*viewer).askLayoutName), "layout-load": simple((*viewer).openLayouts),

		"scroll": (*viewer).startScroll, "search": simple((*viewer).startSearch),
		"command-previous": simple((*viewer).lastCommand), "copy-output": simple((*viewer).copyLast),

		"sync":      simple(func(v *viewer) { t := v.m.Tab(); t.Sync, v.fresh = !t.Sync, true }),
		"read-only": simple(func(v *viewer) { v.m.ReadOnly = !v.m.ReadOnly }),
		"follow":    simple(func(v *viewer) { v.m.Follow = !v.m.Follow }),
		"size":      simple((*viewer).openSizes),

		"prompt": simple(func(v *viewer) { v.openFooter("prompt") }), "shell": simple(func(v *viewer) { v.openFooter("shell") }),

		"palette": simple((*viewer).openPalette), "theme": simple((*viewer).nextTheme),
		"help": simple(func(v *viewer) { v.open(&overlays.Help{}) }), "quit": simple(func(v *viewer) { v.quit = true }),
	}
}

// command does what a key after the prefix asks for.
func (v *viewer) command(k input.Key) {
	if k.Code == input.KeyEscape {
		return
	}
	if a := v.keys.AfterPrefix(k); a != "" {
		actions[a](v, k)
		return
	}
	v.message = "no such key; " + v.keys.Chord("help") + " lists them"
}

// emptyKey does what a key asks for while there is no session.
func (v *viewer) emptyKey(k input.Key) {
	if a := v.keys.AfterPrefix(k); slices.Contains([]keymap.Action{"new", "quit", "help", "pick", "palette", "prompt", "shell"}, a) {
		actions[a](v, k)
	}
}

// paneArea is where the panes are.
func (v *viewer) paneArea() layout.Rect {
	area, _ := v.areas()
	return area
}

// create starts a session beside the focused one, and places it once it is there.
func (v *viewer) create(place func(id string)) {
	beside := v.m.Focus
	v.spawn(func() {
		id, err := v.src.New(v.ctx, beside)
		v.later(func() {
			if err != nil {
				v.message = "no new session: " + err.Error()
				return
			}
			v.m.Expect(id)
			place(id)
			v.m.Focus, v.m.Zoomed = id, false
		})
	})
}

// newHere starts a session in the current tab: in the grid, or beside the focused pane
// where it has more room.
func (v *viewer) newHere() {
	t, at := v.m.Tab(), v.m.Focus
	v.create(func(id string) { v.m.Insert(t, at, id) })
}

// split starts a session to the right of the focused one, or below it.
func (v *viewer) split(stacked bool) {
	if v.m.Focus == "" {
		v.newHere()
		return
	}
	p := v.focused()
	if p != nil && (stacked && p.Area.H < 2*layout.MinHeight || !stacked && p.Area.W < 2*layout.MinWidth+1) {
		v.message = "the pane is too small to be split; " + v.keys.Chord("tab-new") + " opens a tab"
		return
	}
	t, at := v.m.Manual(v.paneArea()), v.m.Focus
	v.create(func(id string) { t.Tree = t.Tree.Split(at, id, stacked) })
}

func (v *viewer) newTab() {
	v.create(func(id string) { v.m.AddTab(&model.Tab{Tree: layout.Leaf(id), Focus: id}) })
}

// moveToTab gives the pane a tab of its own.
func (v *viewer) moveToTab() {
	if !v.m.MoveToTab() {
		v.message = "it has a tab of its own"
	}
}

func (v *viewer) grow(stacked bool, by int) {
	if !v.m.Grow(v.paneArea(), stacked, by) {
		v.message = "there is no border to move"
	}
}

func (v *viewer) rearrange() {
	if name := v.m.Rearrange(v.paneArea()); name != "" {
		v.message = name
	}
}

func (v *viewer) setTheme(t *theme.Theme) {
	v.theme, v.chosen, v.fresh = t, t.Name, true
	v.message = "theme: " + t.Name
}

func (v *viewer) nextTheme() {
	all := v.themes()
	i := slices.IndexFunc(all, func(t *theme.Theme) bool { return t.Name == v.theme.Name })
	v.setTheme(all[(i+1)%len(all)])
}

func (v *viewer) goToAlert() {
	if id := v.m.NextAlert(); id != "" {
		v.m.GoTo(id)
		return
	}
	v.message = "nothing wants attention"
}

func (v *viewer) askKill() {
	s := v.m.Session(v.m.Focus)
	switch {
	case s == nil:
	case s.State != model.StateRunning:
		v.closePane()
	default:
		id := s.ID
		v.open(&overlays.Question{Text: "kill " + canvas.Printable(s.Name) + "?", Yes: func() { v.kill(id) }})
	}
}

func (v *viewer) kill(id string) {
	v.spawn(func() {
		if err := v.src.Kill(v.ctx, id); err != nil {
			v.later(func() { v.message = "not killed: " + err.Error() })
		}
	})
}

// closePane takes the focused session off the screen; it stays in the history, and goes
// on if it runs.
func (v *viewer) closePane() {
	id := v.m.Focus
	switch {
	case v.m.Session(id) == nil:
	case v.m.Running(id) && len(v.m.Shown()) == 1 && len(v.m.Tabs) == 1:
		v.message = "it runs; " + v.keys.Chord("kill") + " kills it"
	case v.m.Running(id):
		v.m.Manual(v.paneArea())
		v.m.Leave(id)
	default:
		v.m.Leave(id)
	}
}

func (v *viewer) restart() {
	id := v.m.Focus
	switch {
	case v.m.Running(id):
		v.message = "it runs"
	case v.o.Steward != nil && v.m.Session(id) != nil:
		v.spawn(func() {
			if err := v.o.Steward.Restart(v.ctx, id); err != nil {
				v.later(func() { v.message = "not started again: " + err.Error() })
			}
		})
	}
}

func (v *viewer) askRename() {
	s := v.m.Session(v.m.Focus)
	if s == nil || v.o.Steward == nil {
		return
	}
	id := s.ID
	v.open(overlays.NewPrompt("new name: ", s.Name, func(name string) {
		if name = strings.TrimSpace(name); name == "" {
			return
		}
		v.spawn(func() {
			if err := v.o.Steward.Rename(v.ctx, id, name); err != nil {
				v.later(func() { v.message = "not renamed: " + err.Error() })
			}
		})
	}))
}

func (v *viewer) askTabName() {
	t := v.m.Tab()
	v.open(overlays.NewPrompt("name of the tab: ", t.Name, func(name string) {
		t.Name = strings.TrimSpace(name)
	}))
}
