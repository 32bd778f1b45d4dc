//go:build unix

package tmuxcompat

import "slices"

// How a window is divided, with tmux's own rules (its layout.c): who gets the room of a pane that went, and who gives it
// to one that comes. Sizes are in cells of the screen; one column or row lies between two neighbours.

// axis says along which side the parts of a cell lie.
type axis byte

const (
	leaf   axis = 0
	beside axis = 'h' // left to right
	below  axis = 'v' // top to bottom
)

// cell is a part of a window: a pane, or parts along an axis. Parts know whose they are.
type cell struct {
	axis       axis
	w, h, x, y int
	pane       int // of a leaf
	parts      []*cell
	up         *cell
}

// tree is a window's cells.
type tree struct{ root *cell }

func (c *cell) size(along axis) *int {
	if along == beside {
		return &c.w
	}
	return &c.h
}

// leaves are the cells of panes, in the order of the screen.
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

// next and previous are a cell's neighbours among the parts of the same cell; nil: there is none.
func (c *cell) next() *cell     { return c.neighbour(1) }
func (c *cell) previous() *cell { return c.neighbour(-1) }

func (c *cell) neighbour(by int) *cell {
	if i := slices.Index(c.up.parts, c) + by; i >= 0 && i < len(c.up.parts) {
		return c.up.parts[i]
	}
	return nil
}

// spare is how much a cell can shrink along an axis: each pane keeps one column and one row.
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

// adjust makes a cell larger or smaller; its parts along the axis share it, one column or row after the other.
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

// place sets where the parts of a cell are.
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

// fit gives the parts of a cell the shares of its size that they had.
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
