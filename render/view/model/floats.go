package model

import (
	"cmp"
	"slices"

	"github.com/longterm-dev/longterm/render/view/layout"
)

// Panes that float lie over the others of their tab, while they are shown: from when one of them has the focus until one
// below gets it. Those that are pinned are over all tabs, and always shown. On top is the one that has the focus, then
// those that are pinned. A tab always has a pane that does not float.

// Tiled are the ids of a tab's panes that lie beside each other, in order.
func (m *Model) Tiled(t *Tab) []string {
	if !t.Auto {
		return t.Tree.Sessions()
	}
	all := m.Visible()
	ids := slices.DeleteFunc(slices.Clone(all), func(id string) bool { return t.floats(id) || m.IsPinned(id) })
	switch {
	case len(ids) > 0:
		return ids
	case len(all) > 0:
		return all
	}
	return m.withFloats(m.withFloats(nil, t.Floats), m.Pinned) // nothing else is there
}

// floats reports whether a session's pane lies over others of the tab.
func (t *Tab) floats(id string) bool { return indexOf(t.Floats, id) >= 0 }

func indexOf(list []layout.Float, id string) int {
	return slices.IndexFunc(list, func(f layout.Float) bool { return f.Session == id })
}

func sessionsOf(list []layout.Float) (ids []string) {
	for i := range list {
		ids = append(ids, list[i].Session)
	}
	return ids
}

// callAll calls sessions by other ids.
func callAll(list []layout.Float, as func(id string) string) {
	for i := range list {
		list[i].Session = as(list[i].Session)
	}
}

// keptFloats are those that keep does not refuse; one that is there twice is there once.
func keptFloats(list []layout.Float, keep func(id string) bool) []layout.Float {
	var out []layout.Float
	for _, f := range list {
		if f.Session != "" && keep(f.Session) && indexOf(out, f.Session) < 0 {
			out = append(out, f)
		}
	}
	return out
}

// maxFloats bounds the floating panes that a layout may bring.
const maxFloats = 50

// floatsOf are the floating panes of a layout whose sessions are there.
func (m *Model) floatsOf(f *Layout, list []layout.Float) []layout.Float {
	var out []layout.Float
	for _, x := range list[:min(len(list), maxFloats)] {
		if x.Session = m.successor(f, x.Session); x.Session != "" {
			out = append(out, x)
		}
	}
	return keptFloats(out, func(string) bool { return true })
}

// setTree gives the tab a tree. Without any pane there, one that floats takes its place.
func (t *Tab) setTree(n *layout.Node) {
	if t.Tree = n; n == nil && len(t.Floats) > 0 {
		t.Tree = layout.Leaf(t.Floats[0].Session)
		t.Floats = slices.Delete(t.Floats, 0, 1)
	}
}

// IsPinned reports whether a session's pane is over all tabs.
func (m *Model) IsPinned(id string) bool { return indexOf(m.Pinned, id) >= 0 }

// Floats reports whether a session's pane lies over the others of the current tab.
func (m *Model) Floats(id string) bool { return m.Float(id) != nil }

// Float is where a session's pane lies over the others of the current tab; nil: it does not.
func (m *Model) Float(id string) *layout.Float {
	t := m.Tab()
	if slices.Contains(m.Tiled(t), id) {
		return nil
	}
	if i := indexOf(t.Floats, id); i >= 0 {
		return &t.Floats[i]
	}
	if i := indexOf(m.Pinned, id); i >= 0 {
		return &m.Pinned[i]
	}
	return nil
}

// unfloat takes a session from those that float, and tells where it was.
func (m *Model) unfloat(t *Tab, id string) (was layout.Float, pinned, floated bool) {
	if i := indexOf(t.Floats, id); i >= 0 {
		was = t.Floats[i]
		t.Floats = slices.Delete(t.Floats, i, i+1)
		return was, false, true
	}
	if i := indexOf(m.Pinned, id); i >= 0 {
		was = m.Pinned[i]
		m.Pinned = slices.Delete(m.Pinned, i, i+1)
		return was, true, true
	}
	return was, false, false
}

// below is the pane of a tab that has the focus, or had it last, of those that do not float.
func (m *Model) below(t *Tab) string {
	ids := m.Tiled(t)
	for _, id := range []string{m.Focus, t.tile} {
		if slices.Contains(ids, id) {
			return id
		}
	}
	if m.expected[m.Focus] && m.Float(m.Focus) == nil {
		return m.Focus // it is on its way
	}
	if len(ids) > 0 {
		return ids[len(ids)-1]
	}
	return m.Focus
}

// Below is that of the current tab.
func (m *Model) Below() string { return m.below(m.Tab()) }

// raise has what got the focus be on top: the floating panes come with the first of them, and go with the last.
func (m *Model) raise() {
	t := m.Tab()
	f := m.Float(m.Focus)
	// One that was pinned while its tab was closed is among both when that comes back, and is this tab's.
	ofTab := f != nil && (t.floats(m.Focus) || !m.IsPinned(m.Focus))
	if m.Focus == t.lifted && (f != nil) == t.high && (!ofTab || t.Over) {
		return
	}
	first := t.lifted == "" // nothing was seen of the tab yet: it stands as it was kept
	t.lifted, t.high = m.Focus, f != nil
	if f == nil {
		t.Over, t.tile = t.Over && first, m.Focus
		return
	}
	m.raised++
	f.Top(m.raised)
	t.Over = t.Over || ofTab
}

// floating are the places of panes over others, the topmost last; none where the area is too small.
func (m *Model) floating(area layout.Rect) []layout.Place {
	if !layout.CanFloat(area) {
		return nil
	}
	t := m.Tab()
	var out []layout.Place
	for i, list := range [][]layout.Float{t.Floats, m.Pinned} {
		pinned := i == 1
		if !pinned && !t.Over {
			continue
		}
		list = slices.DeleteFunc(slices.Clone(list), func(f layout.Float) bool {
			at := m.Float(f.Session)
			return at == nil || !m.known(f.Session) || pinned && t.floats(f.Session)
		})
		slices.SortStableFunc(list, func(a, b layout.Float) int { return cmp.Compare(a.Raised(), b.Raised()) })
		for j := range list {
			out = append(out, layout.Place{Session: list[j].Session, Area: list[j].Area(area), Float: true, Pinned: pinned})
		}
	}
	// What somebody types into is seen, also below what is pinned.
	if i := slices.IndexFunc(out, func(p layout.Place) bool { return p.Session == m.Focus }); i >= 0 {
		now := out[i]
		out = append(slices.Delete(out, i, i+1), now)
	}
	return out
}

// HiddenFloats is how many panes of the current tab float and are not shown.
func (m *Model) HiddenFloats() (n int) {
	t := m.Tab()
	if t.Over {
		return 0
	}
	for i := range t.Floats {
		if m.Float(t.Floats[i].Session) != nil {
			n++
		}
	}
	return n
}

// newFloat is a place over the others of a tab where no other one begins.
func (m *Model) newFloat(t *Tab, id string) layout.Float {
	there := slices.Concat(t.Floats, m.Pinned)
	for i := range there {
		f := layout.NewFloat(id, i)
		if !slices.ContainsFunc(there, func(o layout.Float) bool { return o.X == f.X && o.Y == f.Y }) {
			return f
		}
	}
	return layout.NewFloat(id, len(there))
}

// ToggleFloats shows the floating panes of the tab, or hides them; false: it has none.
func (m *Model) ToggleFloats() bool {
	t := m.Tab()
	top := ""
	raised := -1
	for i := range t.Floats {
		if f := m.Float(t.Floats[i].Session); f != nil && f.Raised() >= raised {
			top, raised = f.Session, f.Raised()
		}
	}
	switch {
	case top == "":
		return false
	case t.Over:
		t.Over = false
		if t.floats(m.Focus) {
			m.Focus, m.Zoomed = m.below(t), false
		}
	default:
		t.Over, m.Focus, m.Zoomed = true, top, false
	}
	return true
}

// AddFloat has a new session's pane lie over the others of a tab.
func (m *Model) AddFloat(t *Tab, id string) {
	if len(m.Tiled(t)) == 0 || !slices.Contains(m.Tabs, t) || t.floats(id) || m.IsPinned(id) {
		return // it is the first one, or there
	}
	t.Floats = append(t.Floats, m.newFloat(t, id))
}

// ToggleFloat has the focused pane lie over the others, or beside them again; false: it is the only one.
func (m *Model) ToggleFloat() bool {
	t, id := m.Tab(), m.Focus
	if !m.known(id) {
		return false
	}
	if m.Floats(id) {
		m.unfloat(t, id)
		m.seen[id] = true // it may have been taken out of the grid before
		if len(m.Only) > 0 && !slices.Contains(m.Only, id) {
			m.Only = append(m.Only, id)
		}
		m.Insert(t, m.below(t), id)
		return true
	}
	if len(m.Tiled(t)) < 2 {
		return false
	}
	if !t.Auto {
		t.Tree = t.Tree.Without(id)
	}
	if t.tile == id {
		t.tile = ""
	}
	m.AddFloat(t, id)
	m.Zoomed = false
	return true
}

// TogglePin has the focused pane be over all tabs, or over its own one again. What does not float begins to.
// False: it is the only one.
func (m *Model) TogglePin() (pinned, ok bool) {
	t, id := m.Tab(), m.Focus
	if !m.Floats(id) && !m.ToggleFloat() {
		return false, false
	}
	was, pinned, _ := m.unfloat(t, id)
	if pinned {
		t.Floats, t.Over = append(t.Floats, was), true
		return false, true
	}
	m.pin(was)
	return true, true
}

// pin has a session's pane be over all tabs, once.
func (m *Model) pin(f layout.Float) {
	m.Pinned = append(keptFloats(m.Pinned, func(id string) bool { return id != f.Session }), f)
}

// MoveFloat moves the focused pane, of those that float; false: it does not, or is at the edge.
func (m *Model) MoveFloat(area layout.Rect, dx, dy int) bool {
	f := m.Float(m.Focus)
	return f != nil && f.Move(area, dx, dy)
}

// ToggleStack puts the focused pane in one place with the one before it, of which one is open, or takes it out again.
// False: it is the only one, or floats.
func (m *Model) ToggleStack(area layout.Rect) (stacked, ok bool) {
	if m.Floats(m.Focus) || len(m.Tiled(m.Tab())) < 2 {
		return false, false
	}
	t, id := m.Manual(area), m.Focus
	if tree, out := t.Tree.Unpile(id, true); out {
		t.Tree = tree
		return false, true
	}
	ids := t.Tree.Sessions()
	i := slices.Index(ids, id)
	if i < 0 {
		return false, false
	}
	at := ids[max(i-1, 0)]
	if i == 0 {
		at = ids[1]
	}
	t.Tree, ok = t.Tree.PileOn(at, id)
	return true, ok
}

// placeOver has a session's pane lie over others; false: it is the only one of its tab.
func (m *Model) placeOver(o *Order, t *Tab) (why string) {
	was, _, floated := m.unfloat(t, o.Session)
	if !t.Auto && t.Tree.Has(o.Session) {
		rest := t.Tree.Without(o.Session)
		if rest == nil {
			return m.named(o.Session) + " is alone in its tab: there is nothing for it to lie over"
		}
		t.Tree = rest
	}
	f := m.newFloat(t, o.Session)
	if floated {
		f = was
	}
	if o.Area != nil {
		f.X, f.Y, f.W, f.H = o.Area.X, o.Area.Y, o.Area.W, o.Area.H
	}
	if o.Pinned {
		m.pin(f)
		return ""
	}
	t.Floats, t.Over = append(t.Floats, f), true
	return ""
}
