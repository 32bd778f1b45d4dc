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
	Answer  func(why string) // told what Obey says; nil: nobody asks
}

// Obey does what an order asks for. why says why not, and what would help; empty: it is done.
func (m *Model) Obey(o *Order, area layout.Rect) (why string) {
	switch o.Do {
	case "apply":
		if o.Layout == nil || !m.UseLayout(o.Layout) {
			return "none of the layout's sessions runs: start them first"
		}
		return ""
	case "focus":
		if m.Session(o.Session) == nil {
			return m.named(o.Session) + " is not shown here: `longterm layout place` shows it"
		}
		m.GoTo(o.Session)
		return ""
	case "close":
		if !m.takeAway(o.Session, area) {
			return m.named(o.Session) + " has no pane here"
		}
		return ""
	case "place":
		why := m.place(o, area)
		m.refocus() // where nothing was before
		return why
	}
	return "this viewer does not know how to " + o.Do + ": start it again, it may be older"
}

// named is what a person calls a session.
func (m *Model) named(id string) string {
	if s := m.Session(id); s != nil {
		return s.Name
	}
	return id
}

// place shows a session in a pane of its own, and takes it from where it was in the same tab. why is Obey's.
func (m *Model) place(o *Order, area layout.Rect) (why string) {
	if m.Session(o.Session) == nil {
		m.expected[o.Session] = true // it was started just now
	}
	if o.Session == o.Beside {
		return m.named(o.Session) + " has no place beside itself: --beside names another session"
	}
	at := m.Current
	switch over := o.Float || o.Pinned; {
	case o.Beside != "" && o.Tab != "" && !over && !slices.ContainsFunc(m.Tabs, func(t *Tab) bool { return t.Name == o.Tab && slices.Contains(m.Tiled(t), o.Beside) }):
		return m.named(o.Beside) + " is in no pane of the tab " + o.Tab + ": leave out --beside, or --tab"
	case o.Pinned:
		return m.placeOver(o, m.Tab())
	case o.Tab != "":
		at = slices.IndexFunc(m.Tabs, func(t *Tab) bool { return t.Name == o.Tab })
		if at < 0 {
			m.Tabs = append(m.Tabs, &Tab{Name: o.Tab, Tree: layout.Leaf(o.Session), Focus: o.Session})
			return ""
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
			return "that tab shows all that runs: go there first, or place " + m.named(o.Session) + " in a tab of its own (--tab NAME)"
		}
		if m.Manual(area); t.Auto { // nothing is there to stand beside
			m.unfloat(t, o.Session)
			t.Auto, t.Tree, m.Focus = false, layout.Leaf(o.Session), o.Session
			return ""
		}
	}
	beside := o.Beside
	if beside == "" {
		if beside = t.Focus; at == m.Current {
			beside = m.Focus
		}
	}
	if beside == o.Session {
		if o.Stacked || !t.Tree.Has(o.Session) {
			return m.named(o.Session) + " has the focus: --beside names the session to place it with"
		}
		return ""
	}
	m.unfloat(t, o.Session)
	if o.Stacked {
		tree, ok := t.Tree.PileOn(beside, o.Session)
		if t.Tree = tree; !ok {
			return m.named(beside) + " is in no pane that " + m.named(o.Session) + " could be stacked with: --beside names one that is"
		}
		if at == m.Current {
			t.Tree.Unfold(m.Focus)
		}
		return ""
	}
	if t.Tree.Has(o.Session) {
		rest := t.Tree.Without(o.Session)
		if rest == nil {
			return "" // it is the only one there
		}
		t.Tree = rest
	}
	t.Tree = t.Tree.Split(beside, o.Session, o.Below)
	return ""
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
