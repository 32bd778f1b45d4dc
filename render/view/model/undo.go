package model

import (
	"slices"

	"github.com/longterm-dev/longterm/render/view/layout"
)

// maxClosed bounds what can be brought back.
const maxClosed = 20

// closing is a tab or a pane that a person closed.
type closing struct {
	tab  *Tab          // as it was, of a tab that is gone
	at   int           // its place
	from *Tab          // of a pane: its tab
	tree *layout.Node  // and how that was arranged
	left []string      // what was shown then without the pane
	id   string        // of a pane: its session
	over *layout.Float // where it lay over others; nil: it did not
	pin  bool          // over all tabs
}

func (m *Model) note(c closing) {
	if m.closed = append(m.closed, c); len(m.closed) > maxClosed {
		m.closed = slices.Delete(m.closed, 0, 1)
	}
}

// CloseTab closes the current tab, which can be brought back.
func (m *Model) CloseTab() {
	t := m.Tab()
	t.Focus, t.zoomed = m.Focus, m.Zoomed
	m.note(closing{tab: t, at: m.Current})
	m.DropTab(m.Current)
}

// ClosePane takes a session out of the current tab; it can be brought back.
func (m *Model) ClosePane(id string) {
	t := m.Tab()
	if ids := t.Tree.Sessions(); !t.Auto && len(ids) == 1 && ids[0] == id {
		m.CloseTab()
		return
	}
	c := closing{from: t, id: id, tree: copied(t.Tree)}
	if f := m.Float(id); f != nil {
		was := *f
		c.over, c.pin = &was, m.IsPinned(id)
	}
	m.Leave(id)
	c.left = slices.Clone(m.Shown())
	m.note(c)
}

// Reopen brings back what was closed last, and tells what that was; empty: there is nothing.
func (m *Model) Reopen() string {
	for len(m.closed) > 0 {
		c := m.closed[len(m.closed)-1]
		m.closed = m.closed[:len(m.closed)-1]
		switch {
		case c.tab != nil && m.reopenTab(c):
			return "the tab is back"
		case c.tab == nil && m.reopenPane(c):
			return "the pane is back"
		}
	}
	return ""
}

func (m *Model) reopenTab(c closing) bool {
	t := c.tab
	if !t.Auto {
		t.Floats = keptFloats(t.Floats, func(id string) bool { return m.Session(id) != nil })
		if t.setTree(t.Tree.Keep(func(id string) bool { return m.Session(id) != nil })); t.Tree == nil {
			return false // its sessions are gone
		}
	}
	if len(m.Tabs) == 1 && m.Tabs[0].Auto && m.Tabs[0].Name == "" && t.Auto {
		return false // it is the one that is there
	}
	old := m.Tab()
	old.Focus, old.zoomed = m.Focus, m.Zoomed
	at := min(c.at, len(m.Tabs))
	m.Tabs = slices.Insert(m.Tabs, at, t)
	m.enter(at)
	return true
}

func (m *Model) reopenPane(c closing) bool {
	i := slices.Index(m.Tabs, c.from)
	if m.Session(c.id) == nil {
		return false
	}
	m.seen[c.id] = true
	if i < 0 { // its tab is gone: it gets one of its own
		m.AddTab(&Tab{Tree: layout.Leaf(c.id), Focus: c.id})
		return true
	}
	m.Show(i)
	switch t := m.Tab(); {
	case c.pin && !m.Floats(c.id) && !t.Tree.Has(c.id):
		m.pin(*c.over)
	case c.over != nil && !t.Tree.Has(c.id) && !t.floats(c.id):
		t.Floats = append(t.Floats, *c.over)
	case t.Auto:
	case c.tree != nil && slices.Equal(t.Tree.Sessions(), c.left): // nothing came or went since
		t.Tree = c.tree
	case !t.Tree.Has(c.id):
		m.Insert(t, m.Focus, c.id)
	}
	m.Focus, m.Zoomed = c.id, false
	return true
}

// copied is a tree of its own.
func copied(n *layout.Node) *layout.Node {
	if n == nil {
		return nil
	}
	c := *n
	c.Kids = nil
	for _, k := range n.Kids {
		c.Kids = append(c.Kids, copied(k))
	}
	return &c
}
