package view

import (
	"slices"

	"github.com/longterm-dev/longterm/render/view/layout"
)

// arrange says which sessions go where.
func (m *model) arrange(area layout.Rect) []layout.Place {
	if m.zoomed && m.focus != "" {
		return []layout.Place{{Session: m.focus, Area: area}}
	}
	if t := m.tab(); !t.auto {
		places, _, fits := t.tree.Arrange(area)
		if fits || len(places) == 1 {
			return places
		}
		return []layout.Place{{Session: m.focus, Area: area}}
	}
	ids := m.visible()
	areas := layout.Grid(area, len(ids))
	from := 0
	if i := slices.Index(ids, m.focus); i >= len(areas) { // a window around the focused one
		from = i - len(areas) + 1
	}
	out := make([]layout.Place, len(areas))
	for i := range areas {
		out[i] = layout.Place{Session: ids[from+i], Area: areas[i]}
	}
	return out
}

// stepTab shows the tab n further on, round and round.
func (m *model) stepTab(n int) { m.show((m.current + n + len(m.tabs)) % len(m.tabs)) }

// insert puts a new session into a tab: into the grid, or beside a session where it has
// more room.
func (m *model) insert(t *tab, beside, id string) {
	if t.auto || !slices.Contains(m.tabs, t) {
		return
	}
	stacked := false
	for _, p := range m.places {
		if p.Session == beside {
			stacked = p.Area.H*layout.CellAspect > p.Area.W
		}
	}
	t.tree = t.tree.Split(beside, id, stacked)
}

// moveToTab gives the focused session a tab of its own; false: it has one.
func (m *model) moveToTab() bool {
	id := m.focus
	if m.session(id) == nil {
		return true
	}
	if t := m.tab(); !t.auto {
		if len(t.tree.Sessions()) == 1 {
			return false
		}
		m.leave(id)
	}
	m.addTab(&tab{tree: layout.Leaf(id), focus: id})
	return true
}

// toggleAll shows all sessions in a grid, or what was shown before.
func (m *model) toggleAll() {
	if m.tab().auto {
		if len(m.tabs) > 1 {
			m.dropTab(m.current)
		}
		return
	}
	for i, t := range m.tabs {
		if t.auto {
			m.show(i)
			return
		}
	}
	m.addTab(&tab{auto: true, focus: m.focus})
}

// grow makes the focused session's pane larger by some cells; false: it has no border
// that could move.
func (m *model) grow(area layout.Rect, stacked bool, by int) bool {
	return m.manual(area).tree.Grow(m.focus, area, stacked, by)
}

// rearrange gives the current tab the next ready-made arrangement, and tells its name;
// empty: there is nothing to arrange.
func (m *model) rearrange(area layout.Rect) string {
	t := m.manual(area)
	ids := t.tree.Sessions()
	if len(ids) < 2 {
		return ""
	}
	a := layout.Arrangements[t.arranged%len(layout.Arrangements)]
	t.arranged++
	t.tree = a.Make(area, ids)
	return a.Name
}

// swap exchanges the focused session with the next one.
func (m *model) swap(area layout.Rect) {
	t := m.manual(area)
	ids := t.tree.Sessions()
	if i := slices.Index(ids, m.focus); i >= 0 {
		t.tree.Swap(m.focus, ids[(i+1)%len(ids)])
	}
}
