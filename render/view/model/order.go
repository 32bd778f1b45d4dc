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
	Tab     string // of place: name of the tab; empty: that of Beside, else the current one
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
		return m.takeAway(o.Session)
	case "place":
		return m.place(o, area)
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
	if t.Auto {
		if at != m.Current { // what it shows follows from what runs
			return false
		}
		m.Manual(area)
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
	if rest := t.Tree.Without(o.Session); rest != nil || t.Tree == nil || !t.Tree.Has(o.Session) {
		t.Tree = rest
	}
	t.Tree = t.Tree.Split(beside, o.Session, o.Below)
	return true
}

// takeAway takes a session's panes away where it is not the only one.
func (m *Model) takeAway(id string) (done bool) {
	for i := len(m.Tabs) - 1; i >= 0; i-- {
		t := m.Tabs[i]
		if t.Auto || !t.Tree.Has(id) {
			continue
		}
		done = true
		switch rest := t.Tree.Without(id); {
		case i == m.Current:
			m.Leave(id)
		case rest == nil:
			m.DropTab(i)
		default:
			t.Tree = rest
		}
	}
	return done
}
