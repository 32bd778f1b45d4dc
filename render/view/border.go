package view

import (
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/model"
)

// border is a border between panes that is dragged with the mouse.
type border struct {
	divider *layout.Divider // nil: none is
	tree    *layout.Node    // that it belongs to
	from    int             // where it is now, row or column
}

func (b *border) on() bool { return b.divider != nil }

// grab begins to move a border: a column between panes, or the first row of a pane that has
// another one above, which gets the focus. It reports whether there is one.
func (b *border) grab(m *model.Model, area layout.Rect, x, y int) bool {
	if m.Zoomed || len(m.Places) < 2 {
		return false
	}
	t := m.Tab()
	tree := t.Tree
	if t.Auto {
		tree = layout.Tiles(area, m.Tiled(t))
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

// drag moves the border until it is let go. It reports whether that lies below a pane.
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
