//go:build unix

package tmuxcompat

import "slices"

// What changes a window's cells.

// split makes room for a pane beside another one, or along the whole window, of so many columns or rows; nil: there is
// too little.
func (t *tree) split(of *cell, along axis, size int, before, full bool) *cell {
	if full {
		of = t.root
	}
	whole := *of.size(along)
	if whole < 3 {
		return nil
	}
	size = min(max(1, size), whole-2)
	if full && of.spare(along) < size+1 && of.axis != leaf {
		return nil
	}
	n := &cell{w: of.w, h: of.h}
	*n.size(along) = size
	switch {
	case of.up != nil && of.up.axis == along:
		of.up.insert(n, of, before)
	case full && of.axis == along: // the window's own parts, one more of them
		inner := &cell{axis: of.axis, w: of.w, h: of.h, parts: of.parts}
		*inner.size(along) -= size + 1
		inner.fit()
		if of.parts = append(slices.Clone(inner.parts), n); before {
			of.parts = append([]*cell{n}, inner.parts...)
		}
		n.up = of
	default:
		t.wrap(of, n, along, before)
	}
	if !full || of.axis != along {
		*of.size(along) = whole - size - 1
		of.fit()
	}
	t.root.place()
	return n
}

// insert puts a part beside another one.
func (c *cell) insert(n, of *cell, before bool) {
	at := slices.Index(c.parts, of)
	if !before {
		at++
	}
	c.parts = slices.Insert(c.parts, at, n)
	n.up = c
}

// wrap has a new cell stand where one stood, with that one and a new one as its parts.
func (t *tree) wrap(of, n *cell, along axis, before bool) {
	outer := &cell{axis: along, w: of.w, h: of.h, x: of.x, y: of.y, up: of.up}
	t.replace(of, outer)
	outer.parts = []*cell{of, n}
	if before {
		outer.parts = []*cell{n, of}
	}
	of.up, n.up = outer, outer
}

func (t *tree) replace(of, with *cell) {
	if with.up = of.up; of.up == nil {
		t.root = with
		return
	}
	of.up.parts[slices.Index(of.up.parts, of)] = with
}

// remove takes a cell away; the neighbour behind the first one, before any other, has its room.
func (t *tree) remove(c *cell) {
	up := c.up
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

// grow moves the border behind a pane, or before the last one, as resize-pane -R and -D do; below 0: back.
func (t *tree) grow(c *cell, along axis, change int) {
	if c = c.among(along); c == nil {
		return
	}
	if c.next() == nil {
		c = c.previous()
	}
	for change != 0 {
		var moved int
		if change > 0 {
			moved = c.take(along, change)
			change -= moved
		} else {
			moved = c.give(along, -change)
			change += moved
		}
		if moved == 0 {
			break
		}
	}
	t.root.place()
}

// sizeTo gives a pane a size.
func (t *tree) sizeTo(c *cell, along axis, size int) {
	part := c.among(along)
	if part == nil {
		return
	}
	change := size - *part.size(along)
	if part.next() == nil {
		change = -change
	}
	t.grow(c, along, change)
}

// among is the cell that has a neighbour along an axis: this one, or the nearest that it is in; nil: there is none.
func (c *cell) among(along axis) *cell {
	for c.up != nil && c.up.axis != along {
		c = c.up
	}
	if c.up == nil {
		return nil
	}
	return c
}

// take has a cell grow by what the next ones can give, else those before it.
func (c *cell) take(along axis, most int) int {
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

// give has the next cell grow by what this one can give, else those before it.
func (c *cell) give(along axis, most int) int {
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

// spread makes the parts that a pane is one of equally large, or those of what it is in if they are already.
func (t *tree) spread(c *cell) {
	for up := c.up; up != nil; up = up.up {
		changed := false
		for i, size := range shares(*up.size(up.axis), len(up.parts)) {
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
