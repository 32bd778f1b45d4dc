package view

import (
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/overlays"
)

// made says what is started: a shell, or a line that one runs, in the directory of the focused session, or another.
type made struct {
	line, dir string
	behind    bool // the focus stays
}

// create starts a shell beside the focused session, and places it once it is there.
func create(v *viewer, place func(id string)) {
	createOf(v, made{}, func(id string) {
		place(id)
		v.m.Focus, v.m.Zoomed = id, false
	})
}

// createOf starts a session and calls then once it is there. Keys wait for it if it gets the focus.
func createOf(v *viewer, what made, then func(id string)) {
	beside := v.m.Focus
	if !what.behind {
		v.ahead.starting++
	}
	v.spawn(func() {
		id, err := v.src.New(v.ctx, beside, what.dir, what.line)
		v.later(func() {
			if !what.behind {
				v.ahead.starting = max(v.ahead.starting-1, 0)
			}
			defer v.releaseInput()
			if err != nil {
				v.ahead.events = nil // they were meant for that session
				v.message = "no new session: " + err.Error()
				return
			}
			v.m.Expect(id)
			then(id)
		})
	})
}

// newHere starts a session in the current tab: in the grid, or beside the focused pane
// where it has more room.
func newHere(v *viewer) {
	t, at := v.m.Tab(), v.m.Focus
	create(v, func(id string) { v.m.Insert(t, at, id) })
}

// split starts a session to the right of the focused one, or below it.
func split(v *viewer, stacked bool) { splitOf(v, layout.Splitting{Stacked: stacked}, 0, made{}) }

// splitOf is split with more to say: where the pane stands, and how many cells long it is; 0: as its part says.
func splitOf(v *viewer, s layout.Splitting, cells int, what made) {
	if v.m.Focus == "" && what == (made{}) {
		newHere(v)
		return
	}
	p := v.panes.Get(v.m.Below())
	if p != nil && !s.Whole && (s.Stacked && p.Area.H < 2*layout.MinHeight || !s.Stacked && p.Area.W < 2*layout.MinWidth+1) {
		v.message = "too small to split; " + v.keys.Chord("tab-new") + " opens a tab"
		return
	}
	t, at := v.m.Manual(v.paneArea()), v.m.Below()
	createOf(v, what, func(id string) {
		v.m.SplitBy(t, v.paneArea(), at, id, s, cells)
		if !what.behind {
			v.m.Focus, v.m.Zoomed = id, false
		}
	})
}

func newTab(v *viewer) { newTabOf(v, "", made{}, false) }

// newTabOf starts a session in a tab of its own, right behind the current one or where new ones go. The tab of all sessions, where it is the only one, stays as it stands then: who
// opens a tab does not mean to change the one there is.
func newTabOf(v *viewer, name string, what made, right bool) {
	if len(v.m.Tabs) == 1 {
		v.m.Manual(v.paneArea())
	}
	createOf(v, what, func(id string) {
		shown := v.m.Tab()
		add := v.m.AddTab
		if right {
			add = v.m.AddTabBeside
		}
		add(&model.Tab{Name: name, Tree: layout.Leaf(id), Focus: id})
		if what.behind {
			v.m.Show(slices.Index(v.m.Tabs, shown))
		}
	})
}

func goToAlert(v *viewer) {
	id := v.m.NextAlert()
	if id == "" {
		id = v.m.Asks()
	}
	if id == "" {
		v.message = "nothing wants attention"
		return
	}
	v.m.GoTo(id)
}

func askKill(v *viewer) {
	s := v.m.Session(v.m.Focus)
	switch {
	case s == nil:
	case s.State != model.StateRunning:
		closePane(v)
	default:
		v.askKillOf(s)
	}
}

func (v *viewer) askKillOf(s *model.Session) {
	id := s.ID
	v.open(&overlays.Question{Text: "kill " + canvas.Printable(s.Name) + "?", Yes: func() { kill(v, id) }})
}

// kill ends a session, and has its pane close when it has ended: that was asked for, and is nothing to look at.
func kill(v *viewer, id string) {
	v.killed[id] = true
	v.spawn(func() {
		if err := v.src.Kill(v.ctx, id); err != nil {
			v.later(func() {
				delete(v.killed, id)
				v.message = "not killed: " + err.Error()
			})
		}
	})
}

// closePane takes the focused session off the screen; it stays in the history, and goes
// on if it runs.
func closePane(v *viewer) {
	id := v.m.Focus
	switch {
	case v.m.Session(id) == nil:
	case v.m.Running(id) && v.pasts[id]:
		v.endPast(id)
	case v.m.Running(id) && len(v.m.Shown()) == 1 && len(v.m.Tabs) == 1:
		v.message = "it runs; " + v.keys.Chord("kill") + " kills it"
	case v.m.Running(id):
		v.m.Manual(v.paneArea())
		v.m.ClosePane(id)
		v.message = canvas.Printable(v.m.Session(id).Name) + " goes on; " + v.keys.Chord("reopen") + " brings its pane back"
	default:
		v.m.ClosePane(id)
	}
	if len(v.m.Shown()) == 0 {
		v.emptied = v.o.Now()
	}
}

// closeTab closes the current tab; its sessions go on, but for those that only show what others printed.
func closeTab(v *viewer) {
	for _, id := range v.m.Of(v.m.Tab()) {
		if v.pasts[id] {
			v.endPast(id)
		}
	}
	v.m.CloseTab()
	v.message = "its sessions go on; " + v.keys.Chord("reopen") + " brings the tab back"
}

// reopen brings back what was closed last.
func reopen(v *viewer) {
	if v.message = v.m.Reopen(); v.message == "" {
		v.message = "nothing was closed"
	}
}

func restart(v *viewer) {
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

func askRename(v *viewer) {
	s := v.m.Session(v.m.Focus)
	if s == nil || v.o.Steward == nil {
		return
	}
	id := s.ID
	v.open(overlays.NewPrompt("new name: ", s.Name, func(name string) {
		if name = strings.TrimSpace(name); name == "" {
			return
		}
		rename(v, id, name)
	}))
}

func rename(v *viewer, id, name string) {
	v.spawn(func() {
		if err := v.o.Steward.Rename(v.ctx, id, name); err != nil {
			v.later(func() { v.message = "not renamed: " + err.Error() })
		}
	})
}
