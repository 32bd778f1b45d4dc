package layout

// Minimum size of a pane.
const (
	MinWidth  = 10
	MinHeight = 3 // title row and two rows
)

// Place is the area of a session's pane.
type Place struct {
	Session string
	Area    Rect
	Folded  bool // only its title is shown, in one row
	Float   bool // a floating pane, over the previous ones
	Pinned  bool // a floating pane that is shown over all tabs
}

// Divider is a movable border between two neighbours: the column between them, or the first row of the lower one.
type Divider struct {
	Area    Rect
	group   *Node
	index   int   // index of the node before it
	sizes   []int // lengths of the group's nodes
	depth   int
	Stacked bool
}

// Arrange places a tree's panes. gap is the number of columns between two panes. fits is false if some panes would be
// too small.
func (n *Node) Arrange(area Rect, gap int) (places []Place, dividers []Divider, fits bool) {
	a := arranger{fits: true, gap: gap}
	if n != nil {
		a.node(n, area, 0)
	}
	return a.places, a.dividers, a.fits
}

type arranger struct {
	places   []Place
	dividers []Divider
	fits     bool
	gap      int
}

func (a *arranger) node(n *Node, area Rect, depth int) {
	if len(n.Kids) == 0 {
		a.places = append(a.places, Place{Session: n.Session, Area: area})
		a.fits = a.fits && area.W >= MinWidth && area.H >= MinHeight
		return
	}
	if n.IsStack {
		a.arrangeStack(n, area)
		return
	}
	sizes := n.sizes(area, a.gap)
	at := area
	for i, k := range n.Kids {
		if n.Stacked {
			at.H = sizes[i]
		} else {
			at.W = sizes[i]
		}
		a.node(k, at, depth+1)
		if n.Stacked {
			at.Y += sizes[i]
		} else {
			at.X += sizes[i] + a.gap
		}
		if i == len(n.Kids)-1 {
			break
		}
		d := Divider{Area: Rect{at.X - 1, area.Y, 1, area.H}, group: n, index: i, sizes: sizes, depth: depth, Stacked: n.Stacked}
		if n.Stacked {
			d.Area = Rect{area.X, at.Y, area.W, 1}
		}
		a.dividers = append(a.dividers, d)
	}
}

// sizes divides a group's length by the shares of its nodes, without accumulating rounding errors.
func (n *Node) sizes(area Rect, gap int) []int {
	length := area.H
	if !n.Stacked {
		length = area.W - gap*(len(n.Kids)-1)
	}
	length = max(0, length)
	total := 0.0
	for _, k := range n.Kids {
		total += k.share()
	}
	out := make([]int, len(n.Kids))
	sum, before := 0.0, 0
	for i, k := range n.Kids {
		sum += k.share()
		end := int(sum/total*float64(length) + 0.5)
		out[i], before = end-before, end
	}
	return out
}

// Before returns the length of the node before the divider.
func (d *Divider) Before() int { return d.sizes[d.index] }

// Move moves a divider by a number of cells, as far as the panes next to it keep their minimum size.
func (d *Divider) Move(by int) {
	least := d.minSize()
	a, b := d.sizes[d.index], d.sizes[d.index+1]
	by = min(max(by, least-a), b-least)
	if a+by < least || b-by < least {
		return
	}
	d.sizes[d.index] += by
	d.sizes[d.index+1] -= by
	d.share()
}

// Push moves a divider by a number of cells. It also moves the dividers behind it when the panes between have their
// minimum size, as tmux does.
func (d *Divider) Push(by int) {
	grows, shrinks, step := d.index, d.index+1, 1
	if by < 0 {
		grows, shrinks, step, by = shrinks, grows, -1, -by
	}
	for ; by > 0 && shrinks >= 0 && shrinks < len(d.sizes); shrinks += step {
		n := max(0, min(by, d.sizes[shrinks]-d.minSize()))
		d.sizes[grows] += n
		d.sizes[shrinks] -= n
		by -= n
	}
	d.share()
}

// minSize returns the minimum size of a pane next to the divider.
func (d *Divider) minSize() int {
	if d.Stacked {
		return MinHeight
	}
	return MinWidth
}

// share stores the sizes in the group.
func (d *Divider) share() {
	for i, k := range d.group.Kids {
		k.Share = float64(d.sizes[i])
	}
}

// Grow makes a session's pane larger (by > 0) or smaller. It moves the divider after the pane, or for the last pane the
// one before it.
func (n *Node) Grow(session string, area Rect, gap int, stacked bool, by int) bool {
	d := n.border(session, area, gap, stacked)
	if d == nil {
		return false
	}
	if !d.group.Kids[d.index].Has(session) {
		by = -by
	}
	d.Move(by)
	return true
}

// MoveBorder moves the border that Grow would move to the right or down, whichever side the session is on. Other
// borders are pushed.
func (n *Node) MoveBorder(session string, area Rect, gap int, stacked bool, by int) bool {
	d := n.border(session, area, gap, stacked)
	if d != nil {
		d.Push(by)
	}
	return d != nil
}

// border returns the divider after a session, or before it for the last one, or nil.
func (n *Node) border(session string, area Rect, gap int, stacked bool) *Divider {
	_, dividers, _ := n.Arrange(area, gap)
	var best *Divider
	for i := range dividers {
		d := &dividers[i]
		if d.Stacked != stacked || best != nil && d.depth < best.depth {
			continue
		}
		before, behind := d.group.Kids[d.index].Has(session), d.group.Kids[d.index+1].Has(session)
		last := d.index+2 == len(d.group.Kids)
		if before || behind && last {
			best = d
		}
	}
	return best
}
