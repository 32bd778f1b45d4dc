package model

import (
	"slices"
	"time"

	"github.com/longterm-dev/longterm/render/view/layout"
)

// Tab is a set of panes shown together: a grid of all sessions that follows the list (Auto), or a tree that the user
// made.
type Tab struct {
	Name                  string
	Auto                  bool
	Tree                  *layout.Node
	Focus                 string // focused session, while another tab is shown
	zoomed                bool
	Sync                  bool   // keys go to all panes
	asGrid                bool   // the tree is a generated grid and showed a single pane: keep showing one
	nextArrangement       int    // index of the next built-in arrangement
	focusNow, focusBefore string // currently and previously focused session

	Floats        []layout.Float // panes that lie over the others
	FloatsShown   bool           // the floating panes are shown
	lastTile      string         // tiled pane that was focused last
	raisedFor     string         // session that was last checked to be on top, and whether it floated
	raisedFloated bool           // and floated
}

// Tab returns the current tab.
func (m *Model) Tab() *Tab { return m.Tabs[m.Current] }

// Title returns a tab's displayed name.
func (m *Model) Title(i int) string {
	t := m.Tabs[i]
	switch {
	case t.Name != "":
		return t.Name
	case t.Auto:
		return "all"
	}
	for _, id := range t.Tree.Sessions() { // the first pane's: a name that does not change with the focus
		if s := m.Session(id); s != nil {
			return s.title()
		}
	}
	return "tab"
}

// Show makes a tab the current one.
func (m *Model) Show(i int) {
	if i < 0 || i >= len(m.Tabs) || i == m.Current {
		return
	}
	old := m.Tab()
	old.Focus, old.zoomed = m.Focus, m.Zoomed
	m.enter(i)
}

// MoveTab moves the current tab to a position, or to the end.
func (m *Model) MoveTab(to int) {
	t := m.Tab()
	m.Tabs = slices.Delete(m.Tabs, m.Current, m.Current+1)
	m.Current = min(to, len(m.Tabs))
	m.Tabs = slices.Insert(m.Tabs, m.Current, t)
}

// SwapTabs exchanges the current tab with tab i. The current tab stays shown.
func (m *Model) SwapTabs(i int) {
	m.Tabs[m.Current], m.Tabs[i] = m.Tabs[i], m.Tabs[m.Current]
	m.Current = i
}

// enter shows a tab without recording the previous one.
func (m *Model) enter(i int) {
	m.Current = i
	m.Focus, m.Zoomed = m.Tab().Focus, m.Tab().zoomed
	m.refocus()
}

// AddTab adds a tab at the place for new ones and shows it.
func (m *Model) AddTab(t *Tab) {
	if !m.TabsLast {
		m.AddTabBeside(t)
		return
	}
	m.Tabs = append(m.Tabs, t)
	m.Show(len(m.Tabs) - 1)
}

// AddTabBeside adds a tab after the current one and shows it.
func (m *Model) AddTabBeside(t *Tab) {
	m.Tabs = slices.Insert(m.Tabs, m.Current+1, t)
	m.Show(m.Current + 1)
}

// DropTab closes a tab. The last one becomes the grid of all sessions.
func (m *Model) DropTab(i int) {
	if len(m.Tabs) == 1 {
		m.Tabs = []*Tab{{Auto: true}}
		m.enter(0)
		return
	}
	m.Tabs = slices.Delete(m.Tabs, i, i+1)
	switch {
	case m.Current > i:
		m.Current--
	case m.Current == i:
		m.enter(max(0, i-1))
	}
}

// MakeManual replaces the generated grid of the current tab by an equal tree that can be changed. A tab without panes stays
// as it is.
func (m *Model) MakeManual(area layout.Rect) *Tab {
	t := m.Tab()
	if ids := m.TiledPanes(t); t.Auto && len(ids) > 0 {
		t.Auto, t.Tree, t.asGrid = false, layout.Tiles(area, ids), m.Side.W > 0 || m.single
	}
	return t
}

// RemoveFromTab removes a session from the current tab.
func (m *Model) RemoveFromTab(id string) {
	t := m.Tab()
	if t.Auto {
		m.seen[id] = false
	}
	if _, _, floats := m.unfloat(t, id); floats || t.Auto {
		if m.Focus == id && floats {
			m.Focus, m.Zoomed = m.lastTiled(t), false
		}
		m.refocus()
		return
	}
	ids := t.Tree.Sessions()
	i := slices.Index(ids, id)
	t.setTree(t.Tree.Without(id))
	if t.Tree == nil {
		m.DropTab(m.Current)
		return
	}
	if ids = slices.Delete(ids, max(i, 0), i+1); m.Focus == id && len(ids) > 0 { // its neighbour, not the last pane
		m.Focus, m.Zoomed = ids[max(0, i-1)], false
	}
	m.refocus()
}

// ForgetTime is how long an unlisted session keeps its pane: a daemon that has just started may not know all sessions
// yet.
const ForgetTime = 5 * time.Second

// prune removes sessions from the trees that have been missing for some time.
func (m *Model) prune(now time.Time) {
	known := map[string]bool{}
	for i := range m.Sessions {
		known[m.Sessions[i].ID] = true
		delete(m.missingSince, m.Sessions[i].ID)
	}
	keep := func(id string) bool {
		if known[id] || m.expected[id] {
			return true
		}
		since, noted := m.missingSince[id]
		if !noted {
			m.missingSince[id] = now
			return true
		}
		return now.Sub(since) < ForgetTime
	}
	m.Pinned = keptFloats(m.Pinned, keep)
	for i := len(m.Tabs) - 1; i >= 0; i-- {
		t := m.Tabs[i]
		t.Floats = keptFloats(t.Floats, keep)
		if t.Auto {
			continue
		}
		if t.setTree(t.Tree.Filter(keep)); t.Tree == nil {
			m.DropTab(i)
		}
	}
}

// Hidden returns how many running sessions are in no tab.
func (m *Model) Hidden() int {
	if len(m.Only) > 0 {
		return 0
	}
	in := map[string]bool{}
	for _, t := range m.Tabs {
		if t.Auto {
			return 0
		}
		for _, id := range t.Tree.Sessions() {
			in[id] = true
		}
		for j := range t.Floats {
			in[t.Floats[j].Session] = true
		}
	}
	for i := range m.Pinned {
		in[m.Pinned[i].Session] = true
	}
	n := 0
	for i := range m.Sessions {
		if s := &m.Sessions[i]; s.State == StateRunning && !in[s.ID] {
			n++
		}
	}
	return n
}

// GoTo shows a session: on the screen, in the tab that has it, or in a new tab.
func (m *Model) GoTo(id string) {
	if !slices.Contains(m.ShownPanes(), id) {
		m.Show(m.tabOf(id))
	}
	if !slices.Contains(m.ShownPanes(), id) {
		m.AddTab(&Tab{Tree: layout.Leaf(id), Focus: id})
	}
	m.Focus = id
}

// tabOf returns the index of the tab that has a session, or -1. Manual tabs come before the tab of all sessions.
func (m *Model) tabOf(id string) int {
	at := -1
	for i, t := range m.Tabs {
		switch {
		case !t.Auto && t.Tree.Has(id), t.isFloating(id):
			return i
		case t.Auto && slices.Contains(m.Visible(), id):
			at = i
		}
	}
	return at
}

// Forget removes a session from all tabs.
func (m *Model) Forget(id string) {
	m.seen[id] = false
	for i := len(m.Tabs) - 1; i >= 0; i-- {
		switch t := m.Tabs[i]; {
		case i == m.Current:
			if len(m.ShownPanes()) > 0 {
				m.RemoveFromTab(id)
			}
		default:
			m.unfloat(t, id)
			if t.Auto {
				continue
			}
			if t.setTree(t.Tree.Without(id)); t.Tree == nil {
				m.DropTab(i)
			}
		}
	}
	m.refocus()
}
