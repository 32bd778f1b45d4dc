package model

import (
	"slices"

	"github.com/longterm-dev/longterm/render/view/layout"
)

// Order is what somebody else wants changed about how sessions stand. The focus stays, unless it is asked for.
type Order struct {
	Do      string // place, focus, close, apply
	Session string
	Beside  string // of place; empty: the focused session
	Below   bool
	Tab     string        // of place: name of the tab; empty: that of Beside, else the current one
	Float   bool          // of place: over the others
	Pinned  bool          // of place: over all tabs
	Stacked bool          // of place: in one place with Beside, of which one is open
	Area    *layout.Float // of place over others; nil: in the middle
	Layout  *Layout
}

// Obey does what an order asks for; false: there is nothing to do it with.
func (m *Model) Obey(o *Order, area layout.Rect) bool {
	switch o.Do {
	case "apply":
		return o.Layout != nil && m.UseLayout(o.Layout)
	case "focus":
		if m.Session(o.Session) == nil {
			return false
		}
		m.GoTo(o.Session)
		return true
	case "close":
		return m.takeAway(o.Session, area)
	case "place":
		done := m.place(o, area)
		m.refocus() // where nothing was before
		return done
	}
	return false
}

// place shows a session in a pane of its own, and takes it from where it was in the same tab.
func (m *Model) place(o *Order, area layout.Rect) bool {
	if m.Session(o.Session) == nil {
		m.expected[o.Session] = true // it was started just now
	}
	if o.Session == o.Beside {
		return false
	}
	at := m.Current
	switch {
	case o.Pinned:
		return m.placeOver(o, m.Tab())
	case o.Tab != "":
		at = slices.IndexFunc(m.Tabs, func(t *Tab) bool { return t.Name == o.Tab })
		if at < 0 {
			m.Tabs = append(m.Tabs, &Tab{Name: o.Tab, Tree: layout.Leaf(o.Session), Focus: o.Session})
			return true
		}
	case o.Beside != "" && m.tabOf(o.Beside) >= 0:
		at = m.tabOf(o.Beside)
	}
	t := m.Tabs[at]
	if o.Float {
		return m.placeOver(o, t)
	}
	if t.Auto {
		if at != m.Current { // what it shows follows from what runs
			return false
		}
		if m.Manual(area); t.Auto { // nothing is there to stand beside
			m.unfloat(t, o.Session)
			t.Auto, t.Tree, m.Focus = false, layout.Leaf(o.Session), o.Session
			return true
		}
	}
	beside := o.Beside
	if beside == "" {
		if beside = t.Focus; at == m.Current {
			beside = m.Focus
		}
	}
	if beside == o.Session {
		return t.Tree.Has(o.Session)
	}
	m.unfloat(t, o.Session)
	if o.Stacked {
		tree, ok := t.Tree.PileOn(beside, o.Session)
		if t.Tree = tree; ok && at == m.Current {
			t.Tree.Unfold(m.Focus)
		}
		return ok
	}
	if t.Tree.Has(o.Session) {
		rest := t.Tree.Without(o.Session)
		if rest == nil {
			return true // it is the only one there
		}
		t.Tree = rest
	}
	t.Tree = t.Tree.Split(beside, o.Session, o.Below)
	return true
}

// takeAway takes a session's panes away where it is not the only one.
func (m *Model) takeAway(id string, area layout.Rect) (done bool) {
	if ids := m.Tiled(m.Tab()); len(ids) > 1 && slices.Contains(ids, id) {
		m.Manual(area)
	}
	done = m.IsPinned(id)
	m.Pinned = keptFloats(m.Pinned, func(other string) bool { return other != id })
	for i := len(m.Tabs) - 1; i >= 0; i-- {
		t := m.Tabs[i]
		if !t.floats(id) && (t.Auto || !t.Tree.Has(id)) {
			continue
		}
		done = true
		if i == m.Current {
			m.Leave(id)
			continue
		}
		if m.unfloat(t, id); t.Auto {
			continue
		}
		if t.setTree(t.Tree.Without(id)); t.Tree == nil {
			m.DropTab(i)
		}
	}
	m.refocus()
	return done
}
