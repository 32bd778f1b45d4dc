package view

import (
	"slices"
	"time"

	"github.com/longterm-dev/longterm/render/view/layout"
)

// tab is a screenful of panes: all sessions in a grid that follows their coming and
// going (auto), or a tree that the person made.
type tab struct {
	name     string
	auto     bool
	tree     *layout.Node
	focus    string // while another tab is shown
	zoomed   bool
	sync     bool // keys go to all panes
	arranged int  // the ready-made arrangement that is next
}

func (m *model) tab() *tab { return m.tabs[m.current] }

// title is a tab's name for people.
func (m *model) title(i int) string {
	t := m.tabs[i]
	switch {
	case t.name != "":
		return t.name
	case t.auto:
		return "all"
	}
	focus := t.focus
	if i == m.current {
		focus = m.focus
	}
	if s := m.session(focus); s != nil {
		return s.Name
	}
	return "tab"
}

// show makes a tab the current one.
func (m *model) show(i int) {
	if i < 0 || i >= len(m.tabs) || i == m.current {
		return
	}
	old := m.tab()
	old.focus, old.zoomed = m.focus, m.zoomed
	m.enter(i)
}

// enter shows a tab without remembering what was shown before.
func (m *model) enter(i int) {
	m.current = i
	m.focus, m.zoomed = m.tab().focus, m.tab().zoomed
	m.refocus()
}

// addTab puts a tab behind the current one and shows it.
func (m *model) addTab(t *tab) {
	m.tabs = slices.Insert(m.tabs, m.current+1, t)
	m.show(m.current + 1)
}

// dropTab closes a tab. The last one becomes the grid of all sessions.
func (m *model) dropTab(i int) {
	if len(m.tabs) == 1 {
		m.tabs = []*tab{{auto: true}}
		m.enter(0)
		return
	}
	m.tabs = slices.Delete(m.tabs, i, i+1)
	switch {
	case m.current > i:
		m.current--
	case m.current == i:
		m.enter(max(0, i-1))
	}
}

// manual makes the current tab a tree that can be changed, as it stands.
func (m *model) manual(area layout.Rect) *tab {
	t := m.tab()
	if t.auto {
		t.auto, t.tree = false, layout.Tiles(area, m.visible())
	}
	return t
}

// leave takes a session out of the current tab.
func (m *model) leave(id string) {
	t := m.tab()
	if t.auto {
		m.seen[id] = false
		m.refocus()
		return
	}
	ids := t.tree.Sessions()
	i := slices.Index(ids, id)
	t.tree = t.tree.Without(id)
	if t.tree == nil {
		m.dropTab(m.current)
		return
	}
	if m.focus == id && i >= 0 { // its neighbour, not the last pane
		ids = slices.Delete(ids, i, i+1)
		m.focus, m.zoomed = ids[max(0, i-1)], false
	}
	m.refocus()
}

// forgetTime is how long a session that is not listed keeps its pane: a daemon that has
// just started may not know all yet.
const forgetTime = 5 * time.Second

// prune takes sessions that are gone for good out of the trees.
func (m *model) prune(now time.Time) {
	known := map[string]bool{}
	for i := range m.sessions {
		known[m.sessions[i].ID] = true
		delete(m.gone, m.sessions[i].ID)
	}
	keep := func(id string) bool {
		if known[id] || m.expected[id] {
			return true
		}
		since, noted := m.gone[id]
		if !noted {
			m.gone[id] = now
			return true
		}
		return now.Sub(since) < forgetTime
	}
	for i := len(m.tabs) - 1; i >= 0; i-- {
		t := m.tabs[i]
		if t.auto {
			continue
		}
		if t.tree = t.tree.Keep(keep); t.tree == nil {
			m.dropTab(i)
		}
	}
}

// hidden is how many running sessions are in no tab.
func (m *model) hidden() int {
	if len(m.only) > 0 {
		return 0
	}
	in := map[string]bool{}
	for _, t := range m.tabs {
		if t.auto {
			return 0
		}
		for _, id := range t.tree.Sessions() {
			in[id] = true
		}
	}
	n := 0
	for i := range m.sessions {
		if s := &m.sessions[i]; s.State == StateRunning && !in[s.ID] {
			n++
		}
	}
	return n
}

// goTo shows a session: where it is on the screen, in the tab that has it, or in a tab of
// its own.
func (m *model) goTo(id string) {
	if !slices.Contains(m.shown(), id) {
		m.show(m.tabOf(id))
	}
	if !slices.Contains(m.shown(), id) {
		m.addTab(&tab{tree: layout.Leaf(id), focus: id})
	}
	m.focus = id
}

// tabOf is the tab that has a session, a made one before that of all; -1: none.
func (m *model) tabOf(id string) int {
	at := -1
	for i, t := range m.tabs {
		switch {
		case !t.auto && t.tree.Has(id):
			return i
		case t.auto && slices.Contains(m.visible(), id):
			at = i
		}
	}
	return at
}

// forget takes a session out of all tabs.
func (m *model) forget(id string) {
	m.seen[id] = false
	for i := len(m.tabs) - 1; i >= 0; i-- {
		switch t := m.tabs[i]; {
		case i == m.current:
			if len(m.shown()) > 0 {
				m.leave(id)
			}
		case t.auto:
		case t.tree.Without(id) == nil:
			m.dropTab(i)
		default:
			t.tree = t.tree.Without(id)
		}
	}
	m.refocus()
}
