package view

import (
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/overlays"
)

// startSpec describes a new session: a shell or a shell line, in a directory (default: that of the focused session).
type startSpec struct {
	line, dir    string
	inBackground bool // the focus does not move to the new session
}

// create starts a shell, and calls place once the session exists.
func create(v *viewer, place func(id string)) {
	createFrom(v, startSpec{}, func(id string) {
		place(id)
		v.m.Focus, v.m.Zoomed = id, false
	})
}

// createFrom starts a session and calls then once it exists. If it will get the focus, keys wait for it.
func createFrom(v *viewer, spec startSpec, then func(id string)) {
	beside := v.m.Focus
	if !spec.inBackground {
		v.typeAhead.starting++
	}
	v.spawn(func() {
		id, err := v.src.New(v.ctx, beside, spec.dir, spec.line)
		v.later(func() {
			if !spec.inBackground {
				v.typeAhead.starting = max(v.typeAhead.starting-1, 0)
			}
			defer v.releaseInput()
			if err != nil {
				v.typeAhead.events = nil // they were meant for that session
				v.message = "session not started: " + err.Error()
				return
			}
			v.m.Expect(id)
			then(id)
		})
	})
}

// newHere starts a session in the current tab: in the grid, or next to the focused pane on the side with more room.
func newHere(v *viewer) {
	t, at := v.m.Tab(), v.m.Focus
	create(v, func(id string) { v.m.Insert(t, at, id) })
}

// split starts a session to the right of the focused one, or below it.
func split(v *viewer, stacked bool) { splitOf(v, layout.Splitting{Stacked: stacked}, 0, startSpec{}) }

// splitOf is split with a position and a length in cells; 0 means the share of the splitting.
func splitOf(v *viewer, s layout.Splitting, cells int, spec startSpec) {
	if v.m.Focus == "" && spec == (startSpec{}) {
		newHere(v)
		return
	}
	p := v.panes.Get(v.m.LastTiled())
	if p != nil && !s.FullLength && (s.Stacked && p.Area.H < 2*layout.MinHeight || !s.Stacked && p.Area.W < 2*layout.MinWidth+1) {
		v.message = "too small to split; " + v.keys.Chord("tab-new") + " opens a tab"
		return
	}
	t, at := v.m.MakeManual(v.paneArea()), v.m.LastTiled()
	createFrom(v, spec, func(id string) {
		v.m.SplitBy(t, v.paneArea(), at, id, s, cells)
		if !spec.inBackground {
			v.m.Focus, v.m.Zoomed = id, false
		}
	})
}

func newTab(v *viewer) { newTabOf(v, "", startSpec{}, false) }

// newTabOf starts a session in a new tab, right after the current tab or at the end. If the tab of all sessions is the
// only one, it becomes manual first: a new tab must not change the arrangement of the old one.
func newTabOf(v *viewer, name string, spec startSpec, right bool) {
	if len(v.m.Tabs) == 1 {
		v.m.MakeManual(v.paneArea())
	}
	createFrom(v, spec, func(id string) {
		shown := v.m.Tab()
		add := v.m.AddTab
		if right {
			add = v.m.AddTabBeside
		}
		add(&model.Tab{Name: name, Tree: layout.Leaf(id), Focus: id})
		if spec.inBackground {
			v.m.Show(slices.Index(v.m.Tabs, shown))
		}
	})
}

func goToAlert(v *viewer) {
	id := v.m.NextAlert()
	if id == "" {
		id = v.m.WaitingWithoutAlert()
	}
	if id == "" {
		v.message = "no session needs attention"
		return
	}
	v.m.GoTo(id)
}

// askKill prompts before it ends the focused session.
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
	v.open(&overlays.Confirmation{Text: "kill " + canvas.Printable(s.Name) + "?", Yes: func() { kill(v, id) }})
}

// kill ends a session. Its pane then closes without a notice, because the user requested it.
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

// closePane removes the focused session from the screen. The session continues.
func closePane(v *viewer) {
	id := v.m.Focus
	switch {
	case v.m.Session(id) == nil:
	case v.m.Running(id) && v.playbacks[id]:
		v.endPlayback(id)
	case v.m.Running(id) && len(v.m.ShownPanes()) == 1 && len(v.m.Tabs) == 1:
		v.message = "session is running; " + v.keys.Chord("kill") + " kills it"
	case v.m.Running(id):
		v.m.MakeManual(v.paneArea())
		v.m.ClosePane(id)
		v.message = canvas.Printable(v.m.Session(id).Name) + " keeps running; " + v.keys.Chord("reopen") + " reopens its pane"
	default:
		v.m.ClosePane(id)
	}
	if len(v.m.ShownPanes()) == 0 {
		v.emptySince = v.o.Now()
	}
}

// closeTab closes the current tab. Its sessions continue, except those that only show history.
func closeTab(v *viewer) {
	for _, id := range v.m.SessionsOf(v.m.Tab()) {
		if v.playbacks[id] {
			v.endPlayback(id)
		}
	}
	v.m.CloseTab()
	v.message = "tab closed, its sessions keep running; " + v.keys.Chord("reopen") + " reopens it"
}

// reopen restores what was closed last.
func reopen(v *viewer) {
	if v.message = v.m.Reopen(); v.message == "" {
		v.message = "nothing to reopen"
	}
}

func restart(v *viewer) {
	id := v.m.Focus
	switch {
	case v.m.Running(id):
		v.message = "session is running"
	case v.o.SessionManager != nil && v.m.Session(id) != nil:
		v.spawn(func() {
			if err := v.o.SessionManager.Restart(v.ctx, id); err != nil {
				v.later(func() { v.message = "not restarted: " + err.Error() })
			}
		})
	}
}

func askRename(v *viewer) {
	s := v.m.Session(v.m.Focus)
	if s == nil || v.o.SessionManager == nil {
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
		if err := v.o.SessionManager.Rename(v.ctx, id, name); err != nil {
			v.later(func() { v.message = "not renamed: " + err.Error() })
		}
	})
}
