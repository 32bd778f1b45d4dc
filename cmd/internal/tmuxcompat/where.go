//go:build unix

package tmuxcompat

import "strings"

// Panes by where they are: {top-left}, {left-of}, select-pane -L.

// direction is the direction from one pane to another.
type direction int

const (
	left direction = iota
	right
	up
	down
)

var directions = map[string]direction{"{left-of}": left, "{right-of}": right, "{up-of}": up, "{down-of}": down}

// corners maps names of positions in a window to coordinates in halves of its size, from the upper left.
var corners = map[string][2]int{
	"top": {1, 0}, "bottom": {1, 2}, "left": {0, 1}, "right": {2, 1},
	"top-left": {0, 0}, "top-right": {2, 0}, "bottom-left": {0, 2}, "bottom-right": {2, 2},
}

// paneIn returns a window's pane by index, id, sign or place, or nil.
func (x *command) paneIn(panes []*pane, word string) *pane {
	if len(panes) == 0 {
		return nil
	}
	if to, ok := directions[word]; ok {
		return x.neighbour(activeIn(panes), to)
	}
	bare := strings.TrimSuffix(strings.TrimPrefix(word, "{"), "}")
	if at, ok := corners[bare]; ok {
		return x.paneAt(panes, at)
	}
	return paneIn(panes, word)
}

// paneAt returns the pane at a position. A border belongs to the pane before it.
func (x *command) paneAt(panes []*pane, halves [2]int) *pane {
	d := x.splitOf(panes[0].Window)
	place := func(halves, size int) int { return []int{0, size / 2, size - 1}[halves] }
	col, line := place(halves[0], d.root.w), place(halves[1], d.root.h)
	for _, p := range panes {
		if c := d.find(p.Pane); c.x <= col && col <= c.x+c.w && c.y <= line && line <= c.y+c.h {
			return p
		}
	}
	return nil
}

// neighbour returns the pane next to of, or nil. Beyond an edge of the window it continues on the other side. Of several
// panes it returns the one used last.
func (x *command) neighbour(of *pane, to direction) *pane {
	d := x.splitOf(of.Window)
	c := d.find(of.Pane)
	var beyond []*pane
	for _, p := range x.inWindow(of.Window) {
		if o := d.find(p.Pane); p != of && c.touches(o, to, d.root) {
			beyond = append(beyond, p)
		}
	}
	return newest(beyond, func(p *pane) int { return p.PaneUsed })
}

// touches reports whether cell o starts where c ends, and shares a part of that side.
func (c *cell) touches(o *cell, to direction, window *cell) bool {
	switch to {
	case left:
		return o.x+o.w+1 == edge(c.x, 0, window.w+1) && overlap(c.y, c.h, o.y, o.h)
	case right:
		return o.x == edge(c.x+c.w+1, window.w, 0) && overlap(c.y, c.h, o.y, o.h)
	case up:
		return o.y+o.h+1 == edge(c.y, 0, window.h+1) && overlap(c.x, c.w, o.x, o.w)
	}
	return o.y == edge(c.y+c.h+1, window.h, 0) && overlap(c.x, c.w, o.x, o.w)
}

// edge returns the coordinate of a neighbour. Beyond the window's end or start, it continues at the other one.
func edge(at, end, other int) int {
	if end == 0 && at == 0 || end > 0 && at >= end {
		return other
	}
	return at
}

// overlap reports whether two ranges overlap, including the width of a border.
func overlap(at, size, other, otherSize int) bool {
	return other <= at+size && other+otherSize-1 >= at
}
