package layout

import "slices"

// NewStack returns a stack of sessions; open is the open one (default: the first).
func NewStack(open string, sessions ...string) *Node {
	g := group(false, leaves(sessions))
	if g != nil && len(g.Kids) > 0 {
		g.IsStack, g.Open = true, open
		if !slices.Contains(sessions, open) {
			g.Open = sessions[0]
		}
	}
	return g
}

// arrangeStack places a stack: a title row for each folded pane, the rest for the open one. If the area is too low for
// all titles, those farthest from the open one are omitted.
func (a *arranger) arrangeStack(n *Node, area Rect) {
	open := max(0, slices.IndexFunc(n.Kids, func(k *Node) bool { return k.Session == n.Open }))
	a.fits = a.fits && area.W >= MinWidth && area.H >= MinHeight
	titles := max(0, min(len(n.Kids)-1, area.H-MinHeight))
	from := max(0, min(open-titles/2, len(n.Kids)-1-titles))
	y := area.Y
	for i, k := range n.Kids[from : from+titles+1] {
		at := Rect{area.X, y, area.W, 1}
		if from+i == open {
			at.H = area.H - titles
		}
		a.places = append(a.places, Place{Session: k.Session, Area: at, Folded: from+i != open})
		y += at.H
	}
}

// eachStack calls f for each stack.
func (n *Node) eachStack(f func(stack *Node)) {
	if n == nil {
		return
	}
	if n.IsStack {
		f(n)
	}
	for _, k := range n.Kids {
		k.eachStack(f)
	}
}

// Unfold opens a session's pane within its stack.
func (n *Node) Unfold(session string) {
	n.eachStack(func(p *Node) {
		if p.Has(session) {
			p.Open = session
		}
	})
}

// InStack reports whether a session's pane is in a stack.
func (n *Node) InStack(session string) (in bool) {
	n.eachStack(func(p *Node) { in = in || p.Has(session) })
	return in
}

// StackOnto stacks a session on another one and removes it from its old place. It returns false if at does not exist or
// is the same session.
func (n *Node) StackOnto(at, session string) (*Node, bool) {
	if at == session || !n.Has(at) {
		return n, false
	}
	if n.Has(session) {
		n = n.Without(session)
	}
	n.stackOn(at, session)
	return n, true
}

func (n *Node) stackOn(at, session string) bool {
	switch {
	case len(n.Kids) == 0 && n.Session == at:
		share := n.Share
		*n = *NewStack(session, at, session)
		n.Share = share
		return true
	case n.IsStack && n.Has(at):
		i := slices.IndexFunc(n.Kids, func(k *Node) bool { return k.Session == at })
		n.Kids, n.Open = slices.Insert(n.Kids, i+1, Leaf(session)), session
		return true
	}
	return slices.ContainsFunc(n.Kids, func(k *Node) bool { return k.stackOn(at, session) })
}

// Unstack moves a session from its stack to the place after it. It returns false if it is in no stack.
func (n *Node) Unstack(session string, stacked bool) (*Node, bool) {
	if !n.InStack(session) {
		return n, false
	}
	rest := ""
	n.eachStack(func(p *Node) {
		if i := slices.IndexFunc(p.Kids, func(k *Node) bool { return k.Session == session }); i >= 0 {
			rest = p.Kids[(i+1)%len(p.Kids)].Session
			if i > 0 {
				rest = p.Kids[i-1].Session
			}
		}
	})
	n = n.Without(session)
	n.Unfold(rest)
	return n.Split(rest, session, stacked), true
}
