package model

import (
	"slices"
	"time"

	"github.com/longterm-dev/longterm/render/view/layout"
)

// Tab is a screenful of panes: all sessions in a grid that follows their coming and
// going (auto), or a tree that the person made.
type Tab struct {
	Name     string
	Auto     bool
	Tree     *layout.Node
	Focus    string // while another tab is shown
	zoomed   bool
	Sync     bool   // keys go to all panes
	asGrid   bool   // the tree was a grid of which one pane was shown, and nobody arranged it: it is shown so still
	arranged int    // the ready-made arrangement that is next
	at, last string // had the focus, now and before

	Floats []layout.Float // panes that lie over the others
	Over   bool           // they are shown
	tile   string         // had the focus last, of those that do not float
	lifted string         // had the focus when it was last seen to that it is on top
	high   bool           // and floated
}

// Tab is the current tab.
func (m *Model) Tab() *Tab { return m.Tabs[m.Current] }

// Title is a tab's name for people.
func (m *Model) Title(i int) string {
	t := m.Tabs[i]
	switch {
	case t.Name != "":
		return t.Name
	case t.Auto:
		return "all"
	}
	for _, id := range t.Tree.Sessions() { // the first one's: a name that does not change with the focus
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

// MoveTab gives the current tab another place among them, the last one where there are not so many.
func (m *Model) MoveTab(to int) {
	t := m.Tab()
	m.Tabs = slices.Delete(m.Tabs, m.Current, m.Current+1)
	m.Current = min(to, len(m.Tabs))
	m.Tabs = slices.Insert(m.Tabs, m.Current, t)
}

// SwapTabs exchanges the places of the current tab and another one; the current one is shown still.
func (m *Model) SwapTabs(i int) {
	m.Tabs[m.Current], m.Tabs[i] = m.Tabs[i], m.Tabs[m.Current]
	m.Current = i
}

// enter shows a tab without remembering what was shown before.
func (m *Model) enter(i int) {
	m.Current = i
	m.Focus, m.Zoomed = m.Tab().Focus, m.Tab().zoomed
	m.refocus()
}

// AddTab adds a tab where new ones go, and shows it.
func (m *Model) AddTab(t *Tab) {
	if !m.TabsLast {
		m.AddTabBeside(t)
		return
	}
	m.Tabs = append(m.Tabs, t)
	m.Show(len(m.Tabs) - 1)
}

// AddTabBeside puts a tab behind the current one and shows it.
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

// Manual makes the current tab a tree that can be changed, as it stands; without any pane it stays as it is.
func (m *Model) Manual(area layout.Rect) *Tab {
	t := m.Tab()
	if ids := m.Tiled(t); t.Auto && len(ids) > 0 {
		t.Auto, t.Tree, t.asGrid = false, layout.Tiles(area, ids), m.Side.W > 0 || m.alone
	}
	return t
}

// Leave takes a session out of the current tab.
func (m *Model) Leave(id string) {
	t := m.Tab()
	if t.Auto {
		m.seen[id] = false
	}
	if _, _, floats := m.unfloat(t, id); floats || t.Auto {
		if m.Focus == id && floats {
			m.Focus, m.Zoomed = m.below(t), false
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

// ForgetTime is how long a session that is not listed keeps its pane: a daemon that has
// just started may not know all yet.
const ForgetTime = 5 * time.Second

// prune takes sessions that are gone for good out of the trees.
func (m *Model) prune(now time.Time) {
	known := map[string]bool{}
	for i := range m.Sessions {
		known[m.Sessions[i].ID] = true
		delete(m.gone, m.Sessions[i].ID)
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
		return now.Sub(since) < ForgetTime
	}
	m.Pinned = keptFloats(m.Pinned, keep)
	for i := len(m.Tabs) - 1; i >= 0; i-- {
		t := m.Tabs[i]
		t.Floats = keptFloats(t.Floats, keep)
		if t.Auto {
			continue
		}
		if t.setTree(t.Tree.Keep(keep)); t.Tree == nil {
			m.DropTab(i)
		}
	}
}

// Hidden is how many running sessions are in no tab.
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

// GoTo shows a session: where it is on the screen, in the tab that has it, or in a tab of
// its own.
func (m *Model) GoTo(id string) {
	if !slices.Contains(m.Shown(), id) {
		m.Show(m.tabOf(id))
	}
	if !slices.Contains(m.Shown(), id) {
		m.AddTab(&Tab{Tree: layout.Leaf(id), Focus: id})
	}
	m.Focus = id
}

// tabOf is the tab that has a session, a made one before that of all; -1: none.
func (m *Model) tabOf(id string) int {
	at := -1
	for i, t := range m.Tabs {
		switch {
		case !t.Auto && t.Tree.Has(id), t.floats(id):
			return i
		case t.Auto && slices.Contains(m.Visible(), id):
			at = i
		}
	}
	return at
}

// Forget takes a session out of all tabs.
func (m *Model) Forget(id string) {
	m.seen[id] = false
	for i := len(m.Tabs) - 1; i >= 0; i-- {
		switch t := m.Tabs[i]; {
		case i == m.Current:
			if len(m.Shown()) > 0 {
				m.Leave(id)
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
