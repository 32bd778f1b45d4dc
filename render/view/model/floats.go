package model

import (
	"cmp"
	"slices"

	"github.com/longterm-dev/longterm/render/view/layout"
)

// Panes that float lie over the others of their tab, while they are shown: from when one of them has the focus until one
// below gets it. Those that are pinned are over all tabs, and always shown. On top is the one that has the focus, then
// those that are pinned. A tab always has a pane that does not float.

// TiledPanes returns the ids of a tab's tiled panes, in order.
func (m *Model) TiledPanes(t *Tab) []string {
	if !t.Auto {
		return t.Tree.Sessions()
	}
	all := m.Visible()
	ids := slices.DeleteFunc(slices.Clone(all), func(id string) bool { return t.isFloating(id) || m.IsPinned(id) })
	switch {
	case len(ids) > 0:
		return ids
	case len(all) > 0:
		return all
	}
	return m.withFloats(m.withFloats(nil, t.Floats), m.Pinned) // nothing else is there
}

// isFloating reports whether a session's pane floats in the tab.
func (t *Tab) isFloating(id string) bool { return indexOf(t.Floats, id) >= 0 }

func indexOf(list []layout.Float, id string) int {
	return slices.IndexFunc(list, func(f layout.Float) bool { return f.Session == id })
}

func sessionsOf(list []layout.Float) (ids []string) {
	for i := range list {
		ids = append(ids, list[i].Session)
	}
	return ids
}

// renameAll replaces the ids of sessions.
func renameAll(list []layout.Float, newID func(id string) string) {
	for i := range list {
		list[i].Session = newID(list[i].Session)
	}
}

// keptFloats returns the floats that keep accepts, without duplicates.
func keptFloats(list []layout.Float, keep func(id string) bool) []layout.Float {
	var out []layout.Float
	for _, f := range list {
		if f.Session != "" && keep(f.Session) && indexOf(out, f.Session) < 0 {
			out = append(out, f)
		}
	}
	return out
}

// maxFloats limits the floating panes of a layout.
const maxFloats = 50

// floatsOf returns the floating panes of a layout whose sessions exist.
func (m *Model) floatsOf(f *Layout, list []layout.Float) []layout.Float {
	var out []layout.Float
	for _, x := range list[:min(len(list), maxFloats)] {
		if x.Session = m.successor(f, x.Session); x.Session != "" {
			out = append(out, x)
		}
	}
	return keptFloats(out, func(string) bool { return true })
}

// setTree sets the tab's tree. If it has no pane, a floating one takes its place.
func (t *Tab) setTree(n *layout.Node) {
	if t.Tree = n; n == nil && len(t.Floats) > 0 {
		t.Tree = layout.Leaf(t.Floats[0].Session)
		t.Floats = slices.Delete(t.Floats, 0, 1)
	}
}

// IsPinned reports whether a session's pane is shown over all tabs.
func (m *Model) IsPinned(id string) bool { return indexOf(m.Pinned, id) >= 0 }

// IsFloating reports whether a session's pane floats in the current tab.
func (m *Model) IsFloating(id string) bool { return m.Float(id) != nil }

// Float returns the floating pane of a session in the current tab, or nil if it does not float.
func (m *Model) Float(id string) *layout.Float {
	t := m.Tab()
	if slices.Contains(m.TiledPanes(t), id) {
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

// unfloat removes a session's floating pane and returns its place.
func (m *Model) unfloat(t *Tab, id string) (old layout.Float, pinned, floated bool) {
	if i := indexOf(t.Floats, id); i >= 0 {
		old = t.Floats[i]
		t.Floats = slices.Delete(t.Floats, i, i+1)
		return old, false, true
	}
	if i := indexOf(m.Pinned, id); i >= 0 {
		old = m.Pinned[i]
		m.Pinned = slices.Delete(m.Pinned, i, i+1)
		return old, true, true
	}
	return old, false, false
}

// lastTiled returns the tiled pane of a tab that is or was focused last.
func (m *Model) lastTiled(t *Tab) string {
	ids := m.TiledPanes(t)
	for _, id := range []string{m.Focus, t.lastTile} {
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

// LastTiled returns the tiled pane of the current tab that is or was focused last.
func (m *Model) LastTiled() string { return m.lastTiled(m.Tab()) }

// raise brings the newly focused pane to the top. Focusing a floating pane shows the tab's floating panes, and focusing
// a tiled one hides them.
func (m *Model) raise() {
	t := m.Tab()
	f := m.Float(m.Focus)
	// One that was pinned while its tab was closed is among both when that comes back, and is this tab's.
	ofTab := f != nil && (t.isFloating(m.Focus) || !m.IsPinned(m.Focus))
	if m.Focus == t.raisedFor && (f != nil) == t.raisedFloated && (!ofTab || t.FloatsShown) {
		return
	}
	first := t.raisedFor == "" // nothing was seen of the tab yet: it stands as it was kept
	t.raisedFor, t.raisedFloated = m.Focus, f != nil
	if f == nil {
		t.FloatsShown, t.lastTile = t.FloatsShown && first, m.Focus
		return
	}
	m.raised++
	f.SetRaised(m.raised)
	t.FloatsShown = t.FloatsShown || ofTab
}

// floatPlaces returns the places of floating panes, the topmost last, or nil if the area is too small.
func (m *Model) floatPlaces(area layout.Rect) []layout.Place {
	if !layout.CanFloat(area) {
		return nil
	}
	t := m.Tab()
	var out []layout.Place
	for i, list := range [][]layout.Float{t.Floats, m.Pinned} {
		pinned := i == 1
		if !pinned && !t.FloatsShown {
			continue
		}
		list = slices.DeleteFunc(slices.Clone(list), func(f layout.Float) bool {
			at := m.Float(f.Session)
			return at == nil || !m.known(f.Session) || pinned && t.isFloating(f.Session)
		})
		slices.SortStableFunc(list, func(a, b layout.Float) int { return cmp.Compare(a.RaisedAt(), b.RaisedAt()) })
		for j := range list {
			out = append(out, layout.Place{Session: list[j].Session, Area: list[j].Area(area), Float: true, Pinned: pinned})
		}
	}
	// The focused pane is visible, even below pinned panes.
	if i := slices.IndexFunc(out, func(p layout.Place) bool { return p.Session == m.Focus }); i >= 0 {
		now := out[i]
		out = append(slices.Delete(out, i, i+1), now)
	}
	return out
}

// HiddenFloats returns how many floating panes of the current tab are hidden.
func (m *Model) HiddenFloats() (n int) {
	t := m.Tab()
	if t.FloatsShown {
		return 0
	}
	for i := range t.Floats {
		if m.Float(t.Floats[i].Session) != nil {
			n++
		}
	}
	return n
}

// newFloat returns a free place for a floating pane in a tab.
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

// ToggleFloats shows or hides the floating panes of the tab. It returns false if there are no floating panes.
func (m *Model) ToggleFloats() bool {
	t := m.Tab()
	top := ""
	raised := -1
	for i := range t.Floats {
		if f := m.Float(t.Floats[i].Session); f != nil && f.RaisedAt() >= raised {
			top, raised = f.Session, f.RaisedAt()
		}
	}
	switch {
	case top == "":
		return false
	case t.FloatsShown:
		t.FloatsShown = false
		if t.isFloating(m.Focus) {
			m.Focus, m.Zoomed = m.lastTiled(t), false
		}
	default:
		t.FloatsShown, m.Focus, m.Zoomed = true, top, false
	}
	return true
}

// AddFloat adds a new session's pane to a tab as a floating one.
func (m *Model) AddFloat(t *Tab, id string) {
	if len(m.TiledPanes(t)) == 0 || !slices.Contains(m.Tabs, t) || t.isFloating(id) || m.IsPinned(id) {
		return // it is the first one, or there
	}
	t.Floats = append(t.Floats, m.newFloat(t, id))
}

// ToggleFloat makes the focused pane float, or tiles it again. It returns false for the only pane.
func (m *Model) ToggleFloat() bool {
	t, id := m.Tab(), m.Focus
	if !m.known(id) {
		return false
	}
	if m.IsFloating(id) {
		m.unfloat(t, id)
		m.seen[id] = true // it may have been taken out of the grid before
		if len(m.Only) > 0 && !slices.Contains(m.Only, id) {
			m.Only = append(m.Only, id)
		}
		m.Insert(t, m.lastTiled(t), id)
		return true
	}
	if len(m.TiledPanes(t)) < 2 {
		return false
	}
	if !t.Auto {
		t.Tree = t.Tree.Without(id)
	}
	if t.lastTile == id {
		t.lastTile = ""
	}
	m.AddFloat(t, id)
	m.Zoomed = false
	return true
}

// TogglePin shows the focused pane over all tabs, or only in its own tab again. A tiled pane floats first. ok is false
// for the only pane.
func (m *Model) TogglePin() (pinned, ok bool) {
	t, id := m.Tab(), m.Focus
	if !m.IsFloating(id) && !m.ToggleFloat() {
		return false, false
	}
	was, pinned, _ := m.unfloat(t, id)
	if pinned {
		t.Floats, t.FloatsShown = append(t.Floats, was), true
		return false, true
	}
	m.pin(was)
	return true, true
}

// pin shows a session's pane over all tabs.
func (m *Model) pin(f layout.Float) {
	m.Pinned = append(keptFloats(m.Pinned, func(id string) bool { return id != f.Session }), f)
}

// MoveFloat moves the focused floating pane. It returns false if the pane does not float or is at the edge.
func (m *Model) MoveFloat(area layout.Rect, dx, dy int) bool {
	f := m.Float(m.Focus)
	return f != nil && f.Move(area, dx, dy)
}

// ToggleStack stacks the focused pane with the one before it, or removes it from its stack. ok is false if it is the
// only pane or floats.
func (m *Model) ToggleStack(area layout.Rect) (stacked, ok bool) {
	if m.IsFloating(m.Focus) || len(m.TiledPanes(m.Tab())) < 2 {
		return false, false
	}
	t, id := m.MakeManual(area), m.Focus
	if tree, out := t.Tree.Unstack(id, true); out {
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
	t.Tree, ok = t.Tree.StackOnto(at, id)
	return true, ok
}

// placeFloating makes a session's pane float. why is the reason if it cannot.
func (m *Model) placeFloating(o *Order, t *Tab) (why string) {
	was, _, floated := m.unfloat(t, o.Session)
	if !t.Auto && t.Tree.Has(o.Session) {
		rest := t.Tree.Without(o.Session)
		if rest == nil {
			return m.nameOf(o.Session) + " cannot float: only pane of its tab"
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
	t.Floats, t.FloatsShown = append(t.Floats, f), true
	return ""
}
