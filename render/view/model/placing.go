package model

import (
	"slices"

	"github.com/longterm-dev/longterm/render/view/layout"
)

// Arrange says which sessions go where.
func (m *Model) Arrange(area layout.Rect) []layout.Place {
	m.Side, m.alone = layout.Rect{}, false
	m.raise()
	if m.Zoomed && m.Focus != "" {
		return []layout.Place{{Session: m.Focus, Area: area}}
	}
	over := m.floating(area)
	if len(over) == 0 && m.Floats(m.Focus) { // there is no room for panes over others
		return []layout.Place{{Session: m.Focus, Area: area}}
	}
	return append(m.tiles(area), over...)
}

// tiles are the places of the panes that lie beside each other.
func (m *Model) tiles(area layout.Rect) []layout.Place {
	t := m.Tab()
	focus := m.below(t)
	if !t.Auto {
		t.Tree.Unfold(focus)
		places, _, fits := t.Tree.Arrange(area, m.Gap)
		switch {
		case t.asGrid && (!fits || tooSmall(areasOf(places), len(places))):
			return m.oneOf(area, focus)
		case fits || len(places) == 1:
			return places
		}
		return []layout.Place{{Session: focus, Area: area}}
	}
	ids := m.Tiled(t)
	areas := layout.Grid(area, len(ids), m.Gap)
	if tooSmall(areas, len(ids)) && slices.Contains(ids, focus) {
		return m.oneOf(area, focus)
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

// oneOf shows one pane, where there is room beside a list of all.
func (m *Model) oneOf(area layout.Rect, id string) []layout.Place {
	if m.alone = area.W < sideFrom; !m.alone {
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

// Sizes, in cells: of panes that can be read, and of the list that stands beside one pane where they could not.
const (
	readableWidth  = 30
	readableHeight = 6
	sideFrom       = 60 // columns of the terminal
	sideWidth      = 24
)

// tooSmall reports that so many panes cannot be read in a grid, or do not all fit into it.
func tooSmall(areas []layout.Rect, n int) bool {
	if n < 3 {
		return false
	}
	return len(areas) < n || slices.ContainsFunc(areas, func(a layout.Rect) bool { return a.W < readableWidth || a.H < readableHeight })
}

// StepTab shows the tab n further on, round and round.
func (m *Model) StepTab(n int) { m.Show((m.Current + n + len(m.Tabs)) % len(m.Tabs)) }

// Insert puts a new session into a tab: into the grid, beside a session where it has
// more room, or over the others where that one is.
func (m *Model) Insert(t *Tab, beside, id string) {
	switch {
	case !slices.Contains(m.Tabs, t):
		return
	case beside != "" && m.Floats(beside): // what begins over the others stays there
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

// MoveToTab gives the focused session a tab of its own; false: it has one.
func (m *Model) MoveToTab() bool {
	id := m.Focus
	if m.Session(id) == nil {
		return true
	}
	if t := m.Tab(); !t.Auto {
		if ids := t.Tree.Sessions(); len(ids) == 1 && ids[0] == id {
			return false
		}
		m.Leave(id)
	} else if m.Floats(id) {
		m.unfloat(t, id)
	}
	m.AddTab(&Tab{Tree: layout.Leaf(id), Focus: id})
	return true
}

// ToggleAll shows all sessions in a grid, or what was shown before.
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

// Grow makes the focused session's pane larger by some cells; false: it has no border
// that could move.
func (m *Model) Grow(area layout.Rect, stacked bool, by int) bool {
	if f := m.Float(m.Focus); f != nil {
		if stacked {
			return f.Grow(area, 0, by)
		}
		return f.Grow(area, by, 0)
	}
	if m.Side.W > 0 || m.alone {
		return false
	}
	return m.unzoomed(area).Tree.Grow(m.Focus, area, m.Gap, stacked, by)
}

// MoveBorder moves the focused pane's border to the right or down, as tmux does: it is the one behind it, or before it where it is
// the last. Of a pane that floats it is the right or lower one. false: there is none.
func (m *Model) MoveBorder(area layout.Rect, stacked bool, by int) bool {
	if m.Float(m.Focus) != nil {
		return m.Grow(area, stacked, by)
	}
	if m.Side.W > 0 || m.alone {
		return false
	}
	return m.unzoomed(area).Tree.MoveBorder(m.Focus, area, m.Gap, stacked, by)
}

// unzoomed is the current tab, made to be changed and with all of its panes in sight: a change that nobody saw would be none.
func (m *Model) unzoomed(area layout.Rect) *Tab {
	m.Zoomed = false
	return m.Manual(area)
}

// Even gives all panes the same space.
func (m *Model) Even(area layout.Rect) { m.unzoomed(area).Tree.Even() }

// Rearrange gives the current tab the next ready-made arrangement, and tells its name;
// empty: there is nothing to arrange.
func (m *Model) Rearrange(area layout.Rect) string {
	t := m.unzoomed(area)
	ids := t.Tree.Sessions()
	if len(ids) < 2 {
		return ""
	}
	t.asGrid = false
	a := &layout.Arrangements[t.arranged%len(layout.Arrangements)]
	t.arranged++
	t.Tree = a.Make(area, ids)
	return a.Name
}

// ArrangeAs gives the current tab the ready-made arrangement of a name; false: there is nothing to arrange. The next one is
// that which follows it.
func (m *Model) ArrangeAs(area layout.Rect, name string) bool {
	t := m.Manual(area)
	t.arranged = max(0, slices.IndexFunc(layout.Arrangements, func(a layout.Arrangement) bool { return a.Name == name }))
	return m.Rearrange(area) != ""
}

// Swap exchanges the focused session with the one that is by further on, round and round.
func (m *Model) Swap(area layout.Rect, by int) {
	t := m.unzoomed(area)
	ids := t.Tree.Sessions()
	if i := slices.Index(ids, m.Focus); i >= 0 {
		t.Tree.Swap(m.Focus, ids[(i+by+len(ids))%len(ids)])
	}
}

// Rotate has each pane of the tab take the place of the one before it, or of the next one.
func (m *Model) Rotate(area layout.Rect, down bool) {
	t := m.unzoomed(area)
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

// SplitBy puts a session beside another one of a tab. Its pane is so many cells long in that direction; 0: as long as its part
// says. Where another one would be too small to be seen by that, it is half of the space. fits: all panes can be seen.
func (m *Model) SplitBy(t *Tab, area layout.Rect, at, id string, s layout.Splitting, cells int) (fits bool) {
	if t.Tree != nil && t.Tree.Has(id) {
		return true
	}
	was := copied(t.Tree)
	t.Tree = t.Tree.SplitBy(at, id, s)
	if cells > 0 {
		m.lengthen(t.Tree, area, id, s.Stacked, cells)
	}
	if _, _, fits = t.Tree.Arrange(area, m.Gap); !fits && s.Part > 0 {
		s.Part = 0
		t.Tree = was.SplitBy(at, id, s)
		_, _, fits = t.Tree.Arrange(area, m.Gap)
	}
	return fits
}

// lengthen gives a session's pane a number of cells, as far as the ones beside it keep a size.
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

// Join takes a session out of the other tabs and puts it beside the focused one. why says why not; empty: it is done.
func (m *Model) Join(area layout.Rect, id string, s layout.Splitting, cells int) (why string) {
	if slices.Contains(m.Shown(), id) {
		return "it is in this tab already"
	}
	t := m.Manual(area)
	was := copied(t.Tree)
	if !m.SplitBy(t, area, m.Below(), id, s, cells) {
		t.Tree = was
		return "too small for one more pane"
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
