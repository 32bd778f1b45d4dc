package view

import (
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/model"
)

// border is the border between panes that the mouse drags.
type border struct {
	divider *layout.Divider // nil means no drag
	tree    *layout.Node    // tree of the divider
	from    int             // current position, row or column
}

// isActive reports whether a drag is in progress.
func (b *border) isActive() bool { return b.divider != nil }

// grab starts to drag a border: a column between panes, or the title row of a lower pane, which gets the focus. It
// reports whether a border is at the position.
func (b *border) grab(m *model.Model, area layout.Rect, x, y int) bool {
	if m.Zoomed || len(m.Places) < 2 {
		return false
	}
	t := m.Tab()
	tree := t.Tree
	if t.Auto {
		tree = layout.Tiles(area, m.TiledPanes(t))
	}
	_, dividers, fits := tree.Arrange(area, m.Gap)
	for i := range dividers {
		d := &dividers[i]
		if !fits || !d.Area.Contains(x, y) {
			continue
		}
		*b = border{d, tree, x}
		if d.Stacked {
			b.from = y
			if id := m.SessionAt(x, y); id != "" {
				m.Focus = id
			}
		}
		return true
	}
	return false
}

// drag moves the border until the button is released. It reports whether the border is above a pane.
func (b *border) drag(m *model.Model, x, y int, held bool) (stacked bool) {
	d := b.divider
	at := x
	if d.Stacked {
		at = y
	}
	if t := m.Tab(); at != b.from && t.Auto { // a mere click leaves the grid as it is
		t.Auto, t.Tree = false, b.tree
	}
	before := d.Before()
	d.Move(at - b.from)
	b.from += d.Before() - before
	if !held {
		b.divider = nil
	}
	return d.Stacked
}
