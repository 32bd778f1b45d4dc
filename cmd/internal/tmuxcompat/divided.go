//go:build unix

package tmuxcompat

import (
	"maps"
	"slices"
	"strconv"
)

// division is how a window is divided, as it is kept.
type division struct {
	Layout string `json:"layout"`
	Zoom   int    `json:"zoom,omitempty"` // the zoomed pane's number and one
	Last   int    `json:"last,omitempty"` // the named layout that was set last, and one
	Old    string `json:"old,omitempty"`  // the layout before the one that was set last
}

// divided is a window's division while a command runs.
type divided struct {
	division
	tree
	was   map[int][2]int // the panes' sizes as they were kept
	stale bool           // panes of it have gone since it was kept
}

func (c *call) stateKey(kind, of string) string { return c.socket + "/" + kind + "/" + of }

func (c *call) layoutKey(window int) string { return c.stateKey("window", strconv.Itoa(window)) }

// divided is a window's division: what is kept, without the panes that went, or the panes below each other.
func (c *call) divided(window int) *divided {
	if d := c.trees[window]; d != nil {
		return d
	}
	panes := c.inWindow(window)
	d := &divided{was: map[int][2]int{}}
	n, err := c.kept()
	kept, ok := n.Layouts[c.layoutKey(window)]
	if t, valid := parseLayout(kept.Layout); err == nil && ok && valid {
		d.division, d.tree = kept, *t
		for _, c := range d.root.leaves() {
			d.was[c.pane] = d.shown(c)
		}
		d.mend(panes)
	}
	if d.root == nil {
		root, _ := arranged("even-vertical", panes, panes[0].Cols, panes[0].Rows)
		d.root = root
	}
	c.trees[window] = d
	return d
}

// mend makes the tree one of these panes.
func (d *divided) mend(panes []*pane) {
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

// shown is the size that a pane has on the screen.
func (d *divided) shown(c *cell) [2]int {
	if d.Zoom-1 == c.pane {
		return [2]int{d.root.w, d.root.h}
	}
	return [2]int{c.w, c.h}
}

// lay keeps a window's division, and gives its panes the sizes that they have in it.
func (x *command) lay(window int) error {
	d := x.divided(window)
	err := x.keep(func(n *numbers) {
		if n.Layouts == nil {
			n.Layouts = map[string]division{}
		}
		d.Layout = summed(d.root.String())
		n.Layouts[x.layoutKey(window)] = d.division
		maps.DeleteFunc(n.Layouts, func(key string, _ division) bool { return x.gone(key) })
	})
	if err != nil {
		return err
	}
	for _, p := range x.inWindow(window) {
		l := d.find(p.Pane)
		if l == nil || d.was[p.Pane] == d.shown(l) {
			continue
		}
		size := d.shown(l)
		if err := x.resize(p, size[0], size[1]); err != nil {
			return err
		}
		d.was[p.Pane] = size
	}
	return nil
}

// gone says that a kept layout is of a window that there is no more.
func (c *call) gone(key string) bool {
	prefix := c.stateKey("window", "")
	if len(key) <= len(prefix) || key[:len(prefix)] != prefix {
		return false
	}
	id, err := strconv.Atoi(key[len(prefix):])
	return err != nil || len(c.inWindow(id)) == 0
}

// settle has those that are left in windows take the room of those that went.
func (x *command) settle(ids ...int) error {
	for _, id := range ids {
		delete(x.trees, id)
		if len(x.inWindow(id)) == 0 {
			continue
		}
		if err := x.lay(id); err != nil {
			return err
		}
	}
	return nil
}

// staleWindows are those in which a pane ended that nobody killed with a command.
func (c *call) staleWindows() (ids []int) {
	for _, p := range windows(c.panes) {
		if c.divided(p.Window).stale {
			ids = append(ids, p.Window)
		}
	}
	return ids
}
