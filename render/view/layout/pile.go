package layout

import "slices"

// Pile has sessions lie in one place, of which one is open; without a name it is the first.
func Pile(open string, sessions ...string) *Node {
	g := group(false, leaves(sessions))
	if g != nil && len(g.Kids) > 0 {
		g.Piled, g.Open = true, open
		if !slices.Contains(sessions, open) {
			g.Open = sessions[0]
		}
	}
	return g
}

// pile gives the open pane all but a row for each of the others. Where the area is too low for all titles, those
// farthest from the open one are left out.
func (a *arranger) pile(n *Node, area Rect) {
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

// each calls f for every pile.
func (n *Node) each(f func(pile *Node)) {
	if n == nil {
		return
	}
	if n.Piled {
		f(n)
	}
	for _, k := range n.Kids {
		k.each(f)
	}
}

// Unfold opens a session's pane where it lies in a pile.
func (n *Node) Unfold(session string) {
	n.each(func(p *Node) {
		if p.Has(session) {
			p.Open = session
		}
	})
}

// InPile reports whether a session's pane lies in a pile.
func (n *Node) InPile(session string) (in bool) {
	n.each(func(p *Node) { in = in || p.Has(session) })
	return in
}

// PileOn puts a session on another one, which makes a pile of both or lies in one. The session is taken from where
// it was. False: at is not there, or is the same.
func (n *Node) PileOn(at, session string) (*Node, bool) {
	if at == session || !n.Has(at) {
		return n, false
	}
	if n.Has(session) {
		n = n.Without(session)
	}
	n.pileOn(at, session)
	return n, true
}

func (n *Node) pileOn(at, session string) bool {
	switch {
	case len(n.Kids) == 0 && n.Session == at:
		share := n.Share
		*n = *Pile(session, at, session)
		n.Share = share
		return true
	case n.Piled && n.Has(at):
		i := slices.IndexFunc(n.Kids, func(k *Node) bool { return k.Session == at })
		n.Kids, n.Open = slices.Insert(n.Kids, i+1, Leaf(session)), session
		return true
	}
	return slices.ContainsFunc(n.Kids, func(k *Node) bool { return k.pileOn(at, session) })
}

// Unpile takes a session out of its pile, and puts it behind that. False: it lies in none.
func (n *Node) Unpile(session string, stacked bool) (*Node, bool) {
	if !n.InPile(session) {
		return n, false
	}
	rest := ""
	n.each(func(p *Node) {
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
