//go:build unix

package tmuxcompat

import (
	"maps"
	"slices"
	"strconv"
)

// division is the stored form of a window's layout.
type division struct {
	Layout string `json:"layout"`         // layout text
	Zoom   int    `json:"zoom,omitempty"` // number of the zoomed pane plus one; 0: none
	Last   int    `json:"last,omitempty"` // index of the last named layout plus one; 0: none
	Old    string `json:"old,omitempty"`  // layout before the last change
}

// windowSplit is a window's layout while a command runs.
type windowSplit struct {
	division
	tree
	storedSizes map[int][2]int // stored sizes of the panes
	stale       bool           // panes have ended since the layout was stored
}

// stateKey returns the key under which a layout or options are stored.
func (c *call) stateKey(kind, scope string) string { return c.socket + "/" + kind + "/" + scope }

func (c *call) layoutKey(window int) string { return c.stateKey("window", strconv.Itoa(window)) }

// splitOf returns a window's layout: the stored one without ended panes, or else its panes below each other.
func (c *call) splitOf(window int) *windowSplit {
	if d := c.trees[window]; d != nil {
		return d
	}
	panes := c.inWindow(window)
	d := &windowSplit{storedSizes: map[int][2]int{}}
	n, err := c.readState()
	kept, ok := n.Layouts[c.layoutKey(window)]
	if t, valid := parseLayout(kept.Layout); err == nil && ok && valid {
		d.division, d.tree = kept, *t
		for _, c := range d.root.leaves() {
			d.storedSizes[c.pane] = d.shownSize(c)
		}
		d.repairTree(panes)
	}
	if d.root == nil {
		root, _ := arrangeByName("even-vertical", panes, panes[0].Cols, panes[0].Rows)
		d.root = root
	}
	c.trees[window] = d
	return d
}

// repairTree makes the tree contain exactly these panes.
func (d *windowSplit) repairTree(panes []*pane) {
	for _, l := range d.root.leaves() {
		if !slices.ContainsFunc(panes, func(p *pane) bool { return p.Pane == l.pane }) {
			if d.stale = true; d.root == l {
				d.root = nil
				return
			}
			d.remove(l)
		}
	}
	if z := d.Zoom - 1; d.stale || d.find(z) == nil || len(panes) == 1 {
		d.Zoom = 0
	}
	if len(d.root.leaves()) != len(panes) {
		d.root = nil // one that is not known: it was made before layouts were kept
	}
}

// shownSize returns a pane's size on the screen.
func (d *windowSplit) shownSize(c *cell) [2]int {
	if d.Zoom-1 == c.pane {
		return [2]int{d.root.w, d.root.h}
	}
	return [2]int{c.w, c.h}
}

// applyLayout stores a window's layout and resizes its panes to it.
func (x *command) applyLayout(window int) error {
	d := x.splitOf(window)
	err := x.saveState(func(n *serverState) {
		if n.Layouts == nil {
			n.Layouts = map[string]division{}
		}
		d.Layout = addChecksum(d.root.String())
		n.Layouts[x.layoutKey(window)] = d.division
		maps.DeleteFunc(n.Layouts, func(key string, _ division) bool { return x.isStaleLayout(key) })
	})
	if err != nil {
		return err
	}
	for _, p := range x.inWindow(window) {
		l := d.find(p.Pane)
		if l == nil || d.storedSizes[p.Pane] == d.shownSize(l) {
			continue
		}
		size := d.shownSize(l)
		if err := x.resize(p, size[0], size[1]); err != nil {
			return err
		}
		d.storedSizes[p.Pane] = size
	}
	return nil
}

// isStaleLayout reports whether a stored layout belongs to a window that no longer exists.
func (c *call) isStaleLayout(key string) bool {
	prefix := c.stateKey("window", "")
	if len(key) <= len(prefix) || key[:len(prefix)] != prefix {
		return false
	}
	id, err := strconv.Atoi(key[len(prefix):])
	return err != nil || len(c.inWindow(id)) == 0
}

// reclaimSpace lets the remaining panes of windows take the space of ended panes.
func (x *command) reclaimSpace(ids ...int) error {
	for _, id := range ids {
		delete(x.trees, id)
		if len(x.inWindow(id)) == 0 {
			continue
		}
		if err := x.applyLayout(id); err != nil {
			return err
		}
	}
	return nil
}

// staleWindows returns the windows in which a pane ended without a kill command.
func (c *call) staleWindows() (ids []int) {
	for _, p := range windows(c.panes) {
		if c.splitOf(p.Window).stale {
			ids = append(ids, p.Window)
		}
	}
	return ids
}
