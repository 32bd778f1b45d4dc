//go:build unix

package tmuxcompat

import "slices"

// A window is divided by tmux's own rules (its layout.c): which pane gets the space of an ended one, and which gives
// space to a new one. Sizes are in cells of the screen, with one column or row between neighbours.

// axis is the direction in which the parts of a cell are arranged.
type axis byte

const (
	leaf   axis = 0
	beside axis = 'h' // left to right
	below  axis = 'v' // top to bottom
)

// cell is a rectangle of a window: a pane, or several parts along an axis.
type cell struct {
	axis       axis
	w, h, x, y int
	pane       int     // of a leaf
	parts      []*cell // parts, in order
	parent     *cell   // parent; nil: the root
}

// tree is a window's layout.
type tree struct{ root *cell }

// size returns a pointer to the cell's width or height.
func (c *cell) size(along axis) *int {
	if along == beside {
		return &c.w
	}
	return &c.h
}

// leaves returns the cells of panes in screen order.
func (c *cell) leaves() (all []*cell) {
	if c.axis == leaf {
		return []*cell{c}
	}
	for _, part := range c.parts {
		all = append(all, part.leaves()...)
	}
	return all
}

func (t *tree) find(pane int) *cell {
	for _, c := range t.root.leaves() {
		if c.pane == pane {
			return c
		}
	}
	return nil
}

// next and previous return a cell's neighbours in its parent, or nil.
func (c *cell) next() *cell     { return c.neighbour(1) }
func (c *cell) previous() *cell { return c.neighbour(-1) }

// neighbour returns the part offset positions after this one in the parent, or nil.
func (c *cell) neighbour(offset int) *cell {
	if i := slices.Index(c.parent.parts, c) + offset; i >= 0 && i < len(c.parent.parts) {
		return c.parent.parts[i]
	}
	return nil
}

// spare returns how much a cell can shrink along an axis. Each pane keeps one column and one row.
func (c *cell) spare(along axis) int {
	if c.axis == leaf {
		return max(0, *c.size(along)-1)
	}
	sum, least := 0, -1
	for _, part := range c.parts {
		n := part.spare(along)
		if sum += n; least < 0 || n < least {
			least = n
		}
	}
	if c.axis == along {
		return sum
	}
	return least
}

// adjust changes a cell's size along an axis. Its parts along the axis share the change, one column or row at a time.
func (c *cell) adjust(along axis, change int) {
	*c.size(along) += change
	switch {
	case c.axis == leaf:
		return
	case c.axis != along:
		for _, part := range c.parts {
			part.adjust(along, change)
		}
		return
	}
	for change != 0 {
		before := change
		for _, part := range c.parts {
			switch {
			case change > 0:
				part.adjust(along, 1)
				change--
			case change < 0 && part.spare(along) > 0:
				part.adjust(along, -1)
				change++
			}
		}
		if change == before {
			return // nothing can give
		}
	}
}

// place sets the positions of the cell's parts.
func (c *cell) place() {
	x, y := c.x, c.y
	for _, part := range c.parts {
		part.x, part.y = x, y
		part.place()
		if c.axis == beside {
			x += part.w + 1
		} else {
			y += part.h + 1
		}
	}
}

// fit scales the cell's parts to its size, in their previous proportions.
func (c *cell) fit() {
	if c.axis == leaf {
		return
	}
	was := len(c.parts) - 1
	sizes := make([]int, len(c.parts))
	for i, part := range c.parts {
		sizes[i] = *part.size(c.axis)
		was += sizes[i]
	}
	whole := *c.size(c.axis)
	left := whole
	for i, part := range c.parts {
		part.w, part.h = c.w, c.h
		share := left
		if after := len(c.parts) - i - 1; after > 0 {
			share = min(max(1, sizes[i]*whole/was), max(1, left-2*after))
		}
		*part.size(c.axis) = share
		left -= share + 1
	}
	for _, part := range c.parts {
		part.fit()
	}
}
