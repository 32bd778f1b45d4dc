package model

import (
	"slices"

	"github.com/longterm-dev/longterm/render/view/layout"
)

// maxClosed limits the closed tabs and panes that can be restored.
const maxClosed = 20

// closedItem is a closed tab or pane.
type closedItem struct {
	tab       *Tab          // the closed tab
	index     int           // its position
	from      *Tab          // for a pane: its tab
	tree      *layout.Node  // the tab's tree before
	remaining []string      // the sessions shown after
	id        string        // for a pane: its session
	float     *layout.Float // its floating place; nil means it was tiled
	pinned    bool          // it was pinned
}

// recordClosed records a closed tab or pane.
func (m *Model) recordClosed(c closedItem) {
	if m.closed = append(m.closed, c); len(m.closed) > maxClosed {
		m.closed = slices.Delete(m.closed, 0, 1)
	}
}

// CloseTab closes the current tab. Reopen restores it.
func (m *Model) CloseTab() {
	t := m.Tab()
	t.Focus, t.zoomed = m.Focus, m.Zoomed
	m.recordClosed(closedItem{tab: t, index: m.Current})
	m.DropTab(m.Current)
}

// ClosePane removes a session from the current tab. Reopen restores it.
func (m *Model) ClosePane(id string) {
	t := m.Tab()
	if ids := t.Tree.Sessions(); !t.Auto && len(ids) == 1 && ids[0] == id {
		m.CloseTab()
		return
	}
	c := closedItem{from: t, id: id, tree: copyTree(t.Tree)}
	if f := m.Float(id); f != nil {
		was := *f
		c.float, c.pinned = &was, m.IsPinned(id)
	}
	m.RemoveFromTab(id)
	c.remaining = slices.Clone(m.ShownPanes())
	m.recordClosed(c)
}

// Reopen restores the last closed tab or pane and returns a message, or "" if nothing was closed.
func (m *Model) Reopen() string {
	for len(m.closed) > 0 {
		c := m.closed[len(m.closed)-1]
		m.closed = m.closed[:len(m.closed)-1]
		switch {
		case c.tab != nil && m.reopenTab(c):
			return "tab reopened"
		case c.tab == nil && m.reopenPane(c):
			return "pane reopened"
		}
	}
	return ""
}

func (m *Model) reopenTab(c closedItem) bool {
	t := c.tab
	if !t.Auto {
		t.Floats = keptFloats(t.Floats, func(id string) bool { return m.Session(id) != nil })
		if t.setTree(t.Tree.Filter(func(id string) bool { return m.Session(id) != nil })); t.Tree == nil {
			return false // its sessions were removed
		}
	}
	if len(m.Tabs) == 1 && m.Tabs[0].Auto && m.Tabs[0].Name == "" && t.Auto {
		return false // it is the one that is there
	}
	old := m.Tab()
	old.Focus, old.zoomed = m.Focus, m.Zoomed
	at := min(c.index, len(m.Tabs))
	m.Tabs = slices.Insert(m.Tabs, at, t)
	m.enter(at)
	return true
}

func (m *Model) reopenPane(c closedItem) bool {
	i := slices.Index(m.Tabs, c.from)
	if m.Session(c.id) == nil {
		return false
	}
	m.seen[c.id] = true
	if i < 0 { // its tab was closed: it gets a new one
		m.AddTab(&Tab{Tree: layout.Leaf(c.id), Focus: c.id})
		return true
	}
	m.Show(i)
	switch t := m.Tab(); {
	case c.pinned && !m.IsFloating(c.id) && !t.Tree.Has(c.id):
		m.pin(*c.float)
	case c.float != nil && !t.Tree.Has(c.id) && !t.isFloating(c.id):
		t.Floats = append(t.Floats, *c.float)
	case t.Auto:
	case c.tree != nil && slices.Equal(t.Tree.Sessions(), c.remaining): // nothing came or went since
		t.Tree = c.tree
	case !t.Tree.Has(c.id):
		m.Insert(t, m.Focus, c.id)
	}
	m.Focus, m.Zoomed = c.id, false
	return true
}

// copyTree returns a deep copy of a tree.
func copyTree(n *layout.Node) *layout.Node {
	if n == nil {
		return nil
	}
	c := *n
	c.Kids = nil
	for _, k := range n.Kids {
		c.Kids = append(c.Kids, copyTree(k))
	}
	return &c
}
