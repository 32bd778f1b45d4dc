//go:build unix

package tmuxcompat

import "slices"

// What changes a window's cells.

// split makes space of the given size for a pane next to a cell, or along the whole window. It returns the new cell, or
// nil if there is too little space.
func (t *tree) split(target *cell, along axis, size int, before, full bool) *cell {
	if full {
		target = t.root
	}
	whole := *target.size(along)
	if whole < 3 {
		return nil
	}
	size = min(max(1, size), whole-2)
	if full && target.spare(along) < size+1 && target.axis != leaf {
		return nil
	}
	n := &cell{w: target.w, h: target.h}
	*n.size(along) = size
	switch {
	case target.parent != nil && target.parent.axis == along:
		target.parent.insert(n, target, before)
	case full && target.axis == along: // the window's own parts, one more of them
		inner := &cell{axis: target.axis, w: target.w, h: target.h, parts: target.parts}
		*inner.size(along) -= size + 1
		inner.fit()
		if target.parts = append(slices.Clone(inner.parts), n); before {
			target.parts = append([]*cell{n}, inner.parts...)
		}
		n.parent = target
	default:
		t.wrap(target, n, along, before)
	}
	if !full || target.axis != along {
		*target.size(along) = whole - size - 1
		target.fit()
	}
	t.root.place()
	return n
}

// insert adds a part before or after another part.
func (c *cell) insert(n, target *cell, before bool) {
	at := slices.Index(c.parts, target)
	if !before {
		at++
	}
	c.parts = slices.Insert(c.parts, at, n)
	n.parent = c
}

// wrap replaces a cell by a new one that contains the old cell and n.
func (t *tree) wrap(target, n *cell, along axis, before bool) {
	outer := &cell{axis: along, w: target.w, h: target.h, x: target.x, y: target.y, parent: target.parent}
	t.replace(target, outer)
	outer.parts = []*cell{target, n}
	if before {
		outer.parts = []*cell{n, target}
	}
	target.parent, n.parent = outer, outer
}

func (t *tree) replace(old, with *cell) {
	if with.parent = old.parent; old.parent == nil {
		t.root = with
		return
	}
	old.parent.parts[slices.Index(old.parent.parts, old)] = with
}

// remove removes a cell. The part after it takes its space; the first part's space goes to the one before.
func (t *tree) remove(c *cell) {
	up := c.parent
	if up == nil {
		return
	}
	heir := c.previous()
	if heir == nil {
		heir = c.next()
	}
	heir.adjust(up.axis, *c.size(up.axis)+1)
	up.parts = slices.DeleteFunc(up.parts, func(o *cell) bool { return o == c })
	if len(up.parts) == 1 {
		t.replace(up, up.parts[0])
	}
	t.root.x, t.root.y = 0, 0
	t.root.place()
}

// grow moves the border after a pane, or before the last pane, like resize-pane -R and -D. A negative change moves it
// back.
func (t *tree) grow(c *cell, along axis, change int) {
	if c = c.ancestorAlong(along); c == nil {
		return
	}
	if c.next() == nil {
		c = c.previous()
	}
	for change != 0 {
		var moved int
		if change > 0 {
			moved = c.takeSpace(along, change)
			change -= moved
		} else {
			moved = c.giveSpace(along, -change)
			change += moved
		}
		if moved == 0 {
			break
		}
	}
	t.root.place()
}

// sizeTo resizes a pane.
func (t *tree) sizeTo(c *cell, along axis, size int) {
	part := c.ancestorAlong(along)
	if part == nil {
		return
	}
	change := size - *part.size(along)
	if part.next() == nil {
		change = -change
	}
	t.grow(c, along, change)
}

// ancestorAlong returns the cell itself or the nearest ancestor that has neighbours along an axis, or nil.
func (c *cell) ancestorAlong(along axis) *cell {
	for c.parent != nil && c.parent.axis != along {
		c = c.parent
	}
	if c.parent == nil {
		return nil
	}
	return c
}

// takeSpace grows a cell with space from the next cells, else from the previous ones. It returns the space taken.
func (c *cell) takeSpace(along axis, most int) int {
	from := c.next()
	for from != nil && from.spare(along) == 0 {
		from = from.next()
	}
	if from == nil {
		from = c.previous()
		for from != nil && from.spare(along) == 0 {
			from = from.previous()
		}
	}
	if from == nil {
		return 0
	}
	n := min(most, from.spare(along))
	c.adjust(along, n)
	from.adjust(along, -n)
	return n
}

// giveSpace grows the next cell with space from this cell, else from the previous ones. It returns the space given.
func (c *cell) giveSpace(along axis, most int) int {
	to, from := c.next(), c
	for from != nil && from.spare(along) == 0 {
		from = from.previous()
	}
	if from == nil || to == nil {
		return 0
	}
	n := min(most, from.spare(along))
	to.adjust(along, n)
	from.adjust(along, -n)
	return n
}

// resize gives the window another size, as far as its panes can shrink.
func (t *tree) resize(w, h int) {
	for along, want := range map[axis]int{beside: w, below: h} {
		t.root.adjust(along, max(want-*t.root.size(along), -t.root.spare(along)))
	}
	t.root.place()
}

// spread gives the parts of a pane's parent equal sizes. If they are equal already, it does so with the parent's
// parent.
func (t *tree) spread(c *cell) {
	for up := c.parent; up != nil; up = up.parent {
		changed := false
		for i, size := range divideCells(*up.size(up.axis), len(up.parts)) {
			if change := size - *up.parts[i].size(up.axis); change != 0 {
				up.parts[i].adjust(up.axis, change)
				changed = true
			}
		}
		if changed {
			break
		}
	}
	t.root.place()
}
