package model

import (
	"slices"

	"github.com/longterm-dev/longterm/render/view/layout"
)

// Arrange returns the area of each visible session.
func (m *Model) Arrange(area layout.Rect) []layout.Place {
	m.Side, m.single = layout.Rect{}, false
	m.raise()
	if m.Zoomed && m.Focus != "" {
		return []layout.Place{{Session: m.Focus, Area: area}}
	}
	over := m.floatPlaces(area)
	if len(over) == 0 && m.IsFloating(m.Focus) { // no space for floating panes
		return []layout.Place{{Session: m.Focus, Area: area}}
	}
	return append(m.tiles(area), over...)
}

// tiles returns the places of the tiled panes.
func (m *Model) tiles(area layout.Rect) []layout.Place {
	t := m.Tab()
	focus := m.lastTiled(t)
	if !t.Auto {
		t.Tree.Unfold(focus)
		places, _, fits := t.Tree.Arrange(area, m.Gap)
		switch {
		case t.asGrid && (!fits || tooSmall(areasOf(places), len(places))):
			return m.singlePane(area, focus)
		case fits || len(places) == 1:
			return places
		}
		return []layout.Place{{Session: focus, Area: area}}
	}
	ids := m.TiledPanes(t)
	areas := layout.Grid(area, len(ids), m.Gap)
	if tooSmall(areas, len(ids)) && slices.Contains(ids, focus) {
		return m.singlePane(area, focus)
	}
	from := 0
	if i := slices.Index(ids, focus); i >= len(areas) { // a window around the focused one
		from = i - len(areas) + 1
	}
	out := make([]layout.Place, len(areas))
	for i := range areas {
		out[i] = layout.Place{Session: ids[from+i], Area: areas[i]}
	}
	return out
}

// singlePane shows one pane, and if there is room the list of sessions next to it.
func (m *Model) singlePane(area layout.Rect, id string) []layout.Place {
	if m.single = area.W < sideFrom; !m.single {
		m.Side = layout.Rect{X: area.X, Y: area.Y, W: sideWidth, H: area.H}
		area.X, area.W = area.X+sideWidth+1, area.W-sideWidth-1
	}
	return []layout.Place{{Session: id, Area: area}}
}

func areasOf(places []layout.Place) []layout.Rect {
	out := make([]layout.Rect, len(places))
	for i := range places {
		out[i] = places[i].Area
	}
	return out
}

// Sizes in cells: the smallest readable pane, and the list of sessions beside a single pane.
const (
	readableWidth  = 30
	readableHeight = 6
	sideFrom       = 60 // columns of the terminal
	sideWidth      = 24
)

// tooSmall reports whether n panes in a grid would be unreadable or would not all fit.
func tooSmall(areas []layout.Rect, n int) bool {
	if n < 3 {
		return false
	}
	return len(areas) < n || slices.ContainsFunc(areas, func(a layout.Rect) bool { return a.W < readableWidth || a.H < readableHeight })
}

// StepTab moves to the tab n further on, cyclically.
func (m *Model) StepTab(n int) { m.Show((m.Current + n + len(m.Tabs)) % len(m.Tabs)) }

// Insert adds a new session to a tab: to the grid, next to a session on the side with more room, or floating if that
// session floats.
func (m *Model) Insert(t *Tab, beside, id string) {
	switch {
	case !slices.Contains(m.Tabs, t):
		return
	case beside != "" && m.IsFloating(beside): // new panes of a floating pane float too
		m.AddFloat(t, id)
		return
	case t.Auto:
		return
	}
	stacked := false
	for _, p := range m.Places {
		if p.Session == beside {
			stacked = p.Area.H*layout.CellAspect > p.Area.W
		}
	}
	t.Tree = t.Tree.Split(beside, id, stacked)
}

// MoveToTab moves the focused session to a new tab. It returns false if it is already alone in its tab.
func (m *Model) MoveToTab() bool {
	id := m.Focus
	if m.Session(id) == nil {
		return true
	}
	if t := m.Tab(); !t.Auto {
		if ids := t.Tree.Sessions(); len(ids) == 1 && ids[0] == id {
			return false
		}
		m.RemoveFromTab(id)
	} else if m.IsFloating(id) {
		m.unfloat(t, id)
	}
	m.AddTab(&Tab{Tree: layout.Leaf(id), Focus: id})
	return true
}

// ToggleAll shows all sessions in a grid, or returns to the previous view.
func (m *Model) ToggleAll() {
	if m.Tab().Auto {
		if len(m.Tabs) > 1 {
			m.DropTab(m.Current)
		}
		return
	}
	for i, t := range m.Tabs {
		if t.Auto {
			m.Show(i)
			return
		}
	}
	m.AddTab(&Tab{Auto: true, Focus: m.Focus})
}

// Grow makes the focused session's pane larger by some cells. It returns false if no border can move.
func (m *Model) Grow(area layout.Rect, stacked bool, by int) bool {
	if f := m.Float(m.Focus); f != nil {
		if stacked {
			return f.Grow(area, 0, by)
		}
		return f.Grow(area, by, 0)
	}
	if m.Side.W > 0 || m.single {
		return false
	}
	return m.unzoom(area).Tree.Grow(m.Focus, area, m.Gap, stacked, by)
}

// MoveBorder moves the focused pane's border to the right or down, as tmux does: the border after it, or before it for
// the last pane. For a floating pane it moves the right or lower edge. It returns false if no border can move.
func (m *Model) MoveBorder(area layout.Rect, stacked bool, by int) bool {
	if m.Float(m.Focus) != nil {
		return m.Grow(area, stacked, by)
	}
	if m.Side.W > 0 || m.single {
		return false
	}
	return m.unzoom(area).Tree.MoveBorder(m.Focus, area, m.Gap, stacked, by)
}

// unzoom ends the zoom and makes the current tab manual, so that a change is visible.
func (m *Model) unzoom(area layout.Rect) *Tab {
	m.Zoomed = false
	return m.MakeManual(area)
}

// Even gives all panes equal space.
func (m *Model) Even(area layout.Rect) { m.unzoom(area).Tree.Even() }

// Rearrange applies the next built-in arrangement to the current tab and returns its name, or "" if the tab has fewer
// than two panes.
func (m *Model) Rearrange(area layout.Rect) string {
	t := m.unzoom(area)
	ids := t.Tree.Sessions()
	if len(ids) < 2 {
		return ""
	}
	t.asGrid = false
	a := &layout.Arrangements[t.nextArrangement%len(layout.Arrangements)]
	t.nextArrangement++
	t.Tree = a.Make(area, ids)
	return a.Name
}

// ArrangeAs applies the built-in arrangement of a name to the current tab. It returns false if the tab has fewer than
// two panes. Rearrange continues from it.
func (m *Model) ArrangeAs(area layout.Rect, name string) bool {
	t := m.MakeManual(area)
	t.nextArrangement = max(0, slices.IndexFunc(layout.Arrangements, func(a layout.Arrangement) bool { return a.Name == name }))
	return m.Rearrange(area) != ""
}

// Swap exchanges the focused session with the one by positions further on, cyclically.
func (m *Model) Swap(area layout.Rect, by int) {
	t := m.unzoom(area)
	ids := t.Tree.Sessions()
	if i := slices.Index(ids, m.Focus); i >= 0 {
		t.Tree.Swap(m.Focus, ids[(i+by+len(ids))%len(ids)])
	}
}

// Rotate moves each pane of the tab to the place of the previous one, or of the next one if down.
func (m *Model) Rotate(area layout.Rect, down bool) {
	t := m.unzoom(area)
	ids := t.Tree.Sessions()
	if len(ids) < 2 {
		return
	}
	cut := 1
	if down {
		cut = len(ids) - 1
	}
	t.Tree.Reorder(slices.Concat(ids[cut:], ids[:cut]))
}

// SplitBy adds a session next to another session. Its pane gets a length in cells, or the share of s if cells is 0. If
// another pane would become too small, both get half. fits reports whether all panes are visible.
func (m *Model) SplitBy(t *Tab, area layout.Rect, at, id string, s layout.Splitting, cells int) (fits bool) {
	if t.Tree != nil && t.Tree.Has(id) {
		return true
	}
	was := copyTree(t.Tree)
	t.Tree = t.Tree.SplitBy(at, id, s)
	if cells > 0 {
		m.lengthen(t.Tree, area, id, s.Stacked, cells)
	}
	if _, _, fits = t.Tree.Arrange(area, m.Gap); !fits && s.Share > 0 {
		s.Share = 0
		t.Tree = was.SplitBy(at, id, s)
		_, _, fits = t.Tree.Arrange(area, m.Gap)
	}
	return fits
}

// lengthen resizes a session's pane to a number of cells, as far as its neighbours keep their minimum size.
func (m *Model) lengthen(tree *layout.Node, area layout.Rect, id string, stacked bool, cells int) {
	places, _, _ := tree.Arrange(area, m.Gap)
	for _, p := range places {
		switch {
		case p.Session != id:
		case stacked:
			tree.Grow(id, area, m.Gap, stacked, cells-p.Area.H)
		default:
			tree.Grow(id, area, m.Gap, stacked, cells-p.Area.W)
		}
	}
}

// Join moves a session from other tabs next to the focused one. why is the reason if it could not, or "".
func (m *Model) Join(area layout.Rect, id string, s layout.Splitting, cells int) (why string) {
	if slices.Contains(m.ShownPanes(), id) {
		return "session is already in this tab"
	}
	t := m.MakeManual(area)
	was := copyTree(t.Tree)
	if !m.SplitBy(t, area, m.LastTiled(), id, s, cells) {
		t.Tree = was
		return "too small for another pane"
	}
	for i := len(m.Tabs) - 1; i >= 0; i-- {
		of := m.Tabs[i]
		if of == t {
			continue
		}
		if m.unfloat(of, id); of.Auto || !of.Tree.Has(id) {
			continue
		}
		if of.setTree(of.Tree.Without(id)); of.Tree == nil {
			m.DropTab(i)
		}
	}
	return ""
}
