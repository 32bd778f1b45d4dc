//go:build unix

package tmuxcompat

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// What gives panes and windows their sizes.

var errInvalid = errors.New("invalid")

// length parses a size in cells, or in percent of whole.
func length(text string, whole int) (int, error) {
	if bare, ok := strings.CutSuffix(text, "%"); ok {
		n, err := strconv.Atoi(bare)
		switch {
		case err != nil:
			return 0, errInvalid
		case n < 0:
			return 0, errors.New("too small")
		case n > 100:
			return 0, errors.New("too large")
		}
		return whole * n / 100, nil
	}
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return 0, errInvalid
	case n < 0:
		return 0, errors.New("too small")
	}
	return min(max(1, n), whole), nil
}

// resizePane implements resize-pane.
func resizePane(x *command) error {
	p, err := x.pane(x.flag('t'))
	if err != nil {
		return err
	}
	by := 1
	if len(x.args) > 0 {
		if by, err = strconv.Atoi(x.args[0]); err != nil {
			return fail("adjustment invalid")
		}
		if by < 1 {
			return fail("adjustment too small")
		}
	}
	d := x.splitOf(p.Window)
	if x.has('Z') {
		return x.zoom(d, p)
	}
	d.Zoom = 0
	c := d.find(p.Pane)
	for _, to := range []struct {
		flag  byte
		along axis
		whole int
		name  string
	}{{'x', beside, p.Cols, "width"}, {'y', below, p.Rows, "height"}} {
		if !x.has(to.flag) {
			continue
		}
		n, err := length(x.flag(to.flag), to.whole)
		if err != nil {
			return fail("%s %v", to.name, err)
		}
		d.sizeTo(c, to.along, n)
	}
	switch {
	case x.has('L'):
		d.grow(c, beside, -by)
	case x.has('R'):
		d.grow(c, beside, by)
	case x.has('U'):
		d.grow(c, below, -by)
	case x.has('D'):
		d.grow(c, below, by)
	}
	return x.applyLayout(p.Window)
}

// zoom makes a pane fill its window, or restores the layout.
func (x *command) zoom(d *windowSplit, p *pane) error {
	switch {
	case d.Zoom > 0:
		d.Zoom = 0
	case len(x.inWindow(p.Window)) == 1:
		return nil
	default:
		var err error
		d.Zoom = p.Pane + 1
		if p.PaneUsed, err = x.nextUse(); err != nil {
			return err
		}
		if err := x.save(x.ctx, p); err != nil {
			return err
		}
	}
	return x.applyLayout(p.Window)
}

func resizeWindow(x *command) error {
	panes, err := x.window(x.flag('t'))
	if err != nil {
		return err
	}
	cols, err := size(x.flag('x'), panes[0].Cols)
	if err != nil {
		return fail("width %v", err)
	}
	rows, err := size(x.flag('y'), panes[0].Rows)
	if err != nil {
		return fail("height %v", err)
	}
	d := x.splitOf(panes[0].Window)
	d.resize(cols, rows)
	for _, p := range panes {
		p.Cols, p.Rows = cols, rows
		if err := x.save(x.ctx, p); err != nil {
			return err
		}
	}
	return x.applyLayout(panes[0].Window)
}

// namedLayouts lists tmux's layouts in the order of next-layout.
var namedLayouts = []string{"even-horizontal", "even-vertical", "main-horizontal", "main-vertical", "tiled"}

// selectLayout implements select-layout, next-layout and previous-layout.
func selectLayout(x *command) error {
	panes, err := x.window(x.flag('t'))
	if err != nil {
		return err
	}
	d := x.splitOf(panes[0].Window)
	name := ""
	switch all := len(namedLayouts); {
	case x.has('E'):
		d.Zoom = 0
		d.spread(d.find(activeIn(panes).Pane))
		return x.applyLayout(panes[0].Window)
	case x.has('n') || x.name == "next-layout":
		name = namedLayouts[d.Last%all]
	case x.has('p') || x.name == "previous-layout":
		name = namedLayouts[(d.Last+2*all-2)%all]
		if d.Last == 0 {
			name = namedLayouts[all-1]
		}
	case x.has('o'):
		name = d.Old
	case len(x.args) > 0:
		name = x.args[0]
	case d.Last > 0:
		name = namedLayouts[d.Last-1]
	}
	if name == "" {
		return nil
	}
	old := addChecksum(d.root.String())
	if err := setLayout(d, panes, name); err != nil {
		return err
	}
	d.Old = old
	return x.applyLayout(panes[0].Window)
}

// setLayout applies a layout given by name or in the form of #{window_layout}.
func setLayout(d *windowSplit, panes []*pane, name string) error {
	if root, last := arrangeByName(name, panes, panes[0].Cols, panes[0].Rows); root != nil {
		d.root, d.Last, d.Zoom = root, last, 0
		return nil
	}
	t, ok := parseLayout(name)
	if !ok {
		return fail("invalid layout: %s", name)
	}
	leaves := t.root.leaves()
	if len(leaves) < len(panes) {
		return fail("have %d panes but need %d: %s", len(panes), len(leaves), name)
	}
	for _, surplus := range leaves[len(panes):] {
		t.remove(surplus)
	}
	for i, l := range t.root.leaves() {
		l.pane = panes[i].Pane
	}
	d.tree, d.Zoom = *t, 0
	d.resize(panes[0].Cols, panes[0].Rows) // it may be of a larger window
	return nil
}

// arrangeByName returns the layout with this name or prefix and its number plus one, or nil for an unknown one.
func arrangeByName(layout string, panes []*pane, cols, rows int) (*cell, int) {
	at := slices.IndexFunc(namedLayouts, func(known string) bool { return strings.HasPrefix(known, layout) })
	if exact := slices.Index(namedLayouts, layout); exact >= 0 {
		at = exact
	}
	if at < 0 {
		return nil, 0
	}
	var cells []*cell
	for _, p := range panes {
		cells = append(cells, &cell{pane: p.Pane})
	}
	var root *cell
	switch namedLayouts[at] {
	case "even-horizontal":
		root = joinCells(beside, cells)
	case "even-vertical":
		root = joinCells(below, cells)
	case "main-horizontal":
		root = joinCells(below, []*cell{cells[0], joinCells(beside, cells[1:])})
	case "main-vertical":
		root = joinCells(beside, []*cell{cells[0], joinCells(below, cells[1:])})
	}
	across := 1
	if root == nil {
		root, across = tiles(cells)
	}
	root.w, root.h = cols, rows
	root.equalize()
	switch {
	case len(panes) == 1:
	case namedLayouts[at] == "main-horizontal": // main-pane-height is 24, with one row left at least
		root.parts[0].h = min(24, rows-2)
		root.parts[1].h = rows - root.parts[0].h - 1
	case namedLayouts[at] == "main-vertical": // main-pane-width is 80
		root.parts[0].w = min(80, cols-2)
		root.parts[1].w = cols - root.parts[0].w - 1
	}
	for _, part := range root.parts {
		part.equalize()
	}
	if across > 1 {
		root.parts[len(root.parts)-1].alignColumns(across)
	}
	root.place()
	return root, at + 1
}

// joinCells returns a cell with the given cells along an axis, or the only cell itself.
func joinCells(along axis, cells []*cell) *cell {
	cells = slices.DeleteFunc(slices.Clone(cells), func(c *cell) bool { return c == nil })
	switch len(cells) {
	case 0:
		return nil
	case 1:
		return cells[0]
	}
	c := &cell{axis: along, parts: cells}
	for _, part := range cells {
		part.parent = c
	}
	return c
}

// tiles arranges cells in rows of equal length, with as many rows as columns or one more.
func tiles(cells []*cell) (*cell, int) {
	down, across := 1, 1
	for down*across < len(cells) {
		if down++; down*across < len(cells) {
			across++
		}
	}
	var rows []*cell
	for line := range slices.Chunk(cells, across) {
		rows = append(rows, joinCells(beside, line))
	}
	return joinCells(below, rows), across
}

// equalize gives the cell's parts equal sizes, recursively.
func (c *cell) equalize() {
	if c.axis == leaf {
		return
	}
	for i, n := range divideCells(*c.size(c.axis), len(c.parts)) {
		part := c.parts[i]
		part.w, part.h = c.w, c.h
		*part.size(c.axis) = n
		part.equalize()
	}
}

// alignColumns aligns a row that has fewer parts than the others with their columns; its last part takes the remaining
// width.
func (c *cell) alignColumns(across int) {
	left := c.w
	for i, part := range c.parts {
		if part.w = left; i < len(c.parts)-1 {
			part.w = divideCells(c.w, across)[i]
		}
		left -= part.w + 1
	}
}

// divideCells divides cells into n parts with one border cell between two; the last part takes the remainder.
func divideCells(cells, n int) []int {
	all := make([]int, n)
	each := max(1, (cells-(n-1))/n)
	for i := range all {
		all[i] = each
	}
	all[n-1] = max(1, cells-(n-1)*(each+1))
	return all
}
