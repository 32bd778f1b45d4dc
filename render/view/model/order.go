package model

import (
	"slices"

	"github.com/longterm-dev/longterm/render/view/layout"
)

// Order is a layout change requested by another client. It does not move the focus, unless that is the change.
type Order struct {
	Do      string // place, focus, close, apply
	Session string
	Beside  string // for place: the session next to it; "": the focused one
	Below   bool
	Tab     string        // for place: name of the tab; "" means that of Beside, else the current one
	Float   bool          // for place: as a floating pane
	Pinned  bool          // for place: shown over all tabs
	Stacked bool          // for place: stacked with Beside
	Area    *layout.Float // for place: area of the floating pane; nil: the middle
	Layout  *Layout
	Answer  func(why string) // receives Obey's result; nil: not wanted
}

// ApplyOrder carries out an order. why is the reason, with a remedy, if it could not, or "".
func (m *Model) ApplyOrder(o *Order, area layout.Rect) (why string) {
	switch o.Do {
	case "apply":
		if o.Layout == nil || !m.UseLayout(o.Layout) {
			return "no session of the layout is running: start them first"
		}
		return ""
	case "focus":
		if m.Session(o.Session) == nil {
			return m.nameOf(o.Session) + " is not shown here: `longterm layout place` shows it"
		}
		m.GoTo(o.Session)
		return ""
	case "close":
		if !m.removePanes(o.Session, area) {
			return m.nameOf(o.Session) + " has no pane here"
		}
		return ""
	case "place":
		why := m.place(o, area)
		m.refocus() // where nothing was before
		return why
	}
	return "viewer does not support " + o.Do + ": restart it, it may be older"
}

// nameOf returns a session's name, or its id if unknown.
func (m *Model) nameOf(id string) string {
	if s := m.Session(id); s != nil {
		return s.Name
	}
	return id
}

// place shows a session in a pane and removes it from its old place in the same tab. It returns Obey's result.
func (m *Model) place(o *Order, area layout.Rect) (why string) {
	if m.Session(o.Session) == nil {
		m.expected[o.Session] = true // it was started just now
	}
	if o.Session == o.Beside {
		return m.nameOf(o.Session) + " cannot be placed beside itself: name another session with --beside"
	}
	at := m.Current
	switch over := o.Float || o.Pinned; {
	case o.Beside != "" && o.Tab != "" && !over && !slices.ContainsFunc(m.Tabs, func(t *Tab) bool { return t.Name == o.Tab && slices.Contains(m.TiledPanes(t), o.Beside) }):
		return m.nameOf(o.Beside) + " has no pane in tab " + o.Tab + ": omit --beside or --tab"
	case o.Pinned:
		return m.placeFloating(o, m.Tab())
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
		return m.placeFloating(o, t)
	}
	if t.Auto {
		if at != m.Current { // what it shows follows from what runs
			return "the tab shows all sessions: go there first, or place " + m.nameOf(o.Session) + " in a new tab (--tab NAME)"
		}
		if m.MakeManual(area); t.Auto { // nothing is there to stand beside
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
			return m.nameOf(o.Session) + " has the focus: name another session with --beside"
		}
		return ""
	}
	m.unfloat(t, o.Session)
	if o.Stacked {
		tree, ok := t.Tree.StackOnto(beside, o.Session)
		if t.Tree = tree; !ok {
			return m.nameOf(beside) + " has no pane to stack " + m.nameOf(o.Session) + " with: name another session with --beside"
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

// removePanes removes a session's panes from tabs that have others.
func (m *Model) removePanes(id string, area layout.Rect) (done bool) {
	if ids := m.TiledPanes(m.Tab()); len(ids) > 1 && slices.Contains(ids, id) {
		m.MakeManual(area)
	}
	done = m.IsPinned(id)
	m.Pinned = keptFloats(m.Pinned, func(other string) bool { return other != id })
	for i := len(m.Tabs) - 1; i >= 0; i-- {
		t := m.Tabs[i]
		if !t.isFloating(id) && (t.Auto || !t.Tree.Has(id)) {
			continue
		}
		done = true
		if i == m.Current {
			m.RemoveFromTab(id)
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
