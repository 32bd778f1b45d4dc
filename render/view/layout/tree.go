// Package layout divides a terminal among panes: a tree of splits, how it changes, and
// where each pane goes. Nothing here draws.
//
// A tree's leaves name sessions. Positions and sizes are cells, 0-based.
package layout

import "slices"

// Rect is a region of the terminal.
type Rect struct{ X, Y, W, H int }

// Contains reports whether a position lies inside.
func (r Rect) Contains(x, y int) bool {
	return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H
}

// Center is the position in the middle.
func (r Rect) Center() (x, y int) { return r.X + r.W/2, r.Y + r.H/2 }

// Node is a leaf that shows a session, or a split of at least two nodes.
type Node struct {
	Session string  `json:"session,omitempty"`
	Stacked bool    `json:"stacked,omitempty"` // one above the other; else side by side
	Kids    []*Node `json:"kids,omitempty"`
	// Piled has the kids, which are leaves, lie in one place: only Open's pane is open, of the others there is a title.
	Piled bool    `json:"piled,omitempty"`
	Open  string  `json:"open,omitempty"`
	Share float64 `json:"share,omitempty"` // of the space, relative to its siblings; 0: 1
}

// Leaf shows a session.
func Leaf(session string) *Node { return &Node{Session: session} }

// Row puts nodes side by side.
func Row(kids ...*Node) *Node { return group(false, kids) }

// Stack puts nodes one above the other.
func Stack(kids ...*Node) *Node { return group(true, kids) }

func group(stacked bool, kids []*Node) *Node {
	switch len(kids) {
	case 0:
		return nil
	case 1:
		return kids[0]
	}
	return &Node{Stacked: stacked, Kids: kids}
}

func (n *Node) share() float64 {
	if n.Share <= 0 {
		return 1
	}
	return min(max(n.Share, 1e-3), 1e6) // files may say anything
}

// Sessions are the leaves in reading order.
func (n *Node) Sessions() []string {
	if n == nil {
		return nil
	}
	if len(n.Kids) == 0 {
		return []string{n.Session}
	}
	var out []string
	for _, k := range n.Kids {
		out = append(out, k.Sessions()...)
	}
	return out
}

// Has reports whether a session has a leaf.
func (n *Node) Has(session string) bool { return n.leaf(session) != nil }

func (n *Node) leaf(session string) *Node {
	if n == nil {
		return nil
	}
	if len(n.Kids) == 0 {
		if n.Session == session {
			return n
		}
		return nil
	}
	for _, k := range n.Kids {
		if l := k.leaf(session); l != nil {
			return l
		}
	}
	return nil
}

// Splitting says where a new pane stands and how much of the space it takes.
type Splitting struct {
	Stacked bool    // below the other one; else to its right
	Before  bool    // above it, or to its left
	Whole   bool    // along all panes, not only the other one
	Part    float64 // of the space, between 0 and 1; 0: half of it
}

// part is how much of the space the new pane takes.
func (s *Splitting) part() float64 {
	if s.Part <= 0 || s.Part >= 1 {
		return 0.5
	}
	return s.Part
}

// pair is two nodes in their order.
func (s *Splitting) pair(was, added *Node) []*Node {
	if s.Part > 0 {
		was.Share, added.Share = 1-s.part(), s.part()
	}
	if s.Before {
		return []*Node{added, was}
	}
	return []*Node{was, added}
}

// Split puts a new session behind another one: below it, or to its right. A tree without
// that session gets it at its end; no tree becomes a leaf.
func (n *Node) Split(at, session string, stacked bool) *Node {
	return n.SplitBy(at, session, Splitting{Stacked: stacked})
}

// SplitBy is Split with more to say.
func (n *Node) SplitBy(at, session string, s Splitting) *Node {
	switch {
	case n == nil:
		return Leaf(session)
	case s.Whole:
		n.beside(session, &s)
		return n.Keep(func(string) bool { return true }) // no group inside one of its kind
	case !n.Has(at):
		return Row(n, Leaf(session))
	}
	n.split(at, session, &s)
	return n
}

func (n *Node) split(at, session string, s *Splitting) bool {
	if len(n.Kids) == 0 {
		if n.Session != at {
			return false
		}
		n.beside(session, s)
		return true
	}
	if n.Piled {
		if n.Has(at) {
			n.beside(session, s) // of all of it
			return true
		}
		return false
	}
	for i, k := range n.Kids {
		if len(k.Kids) == 0 && k.Session == at && n.Stacked == s.Stacked {
			added := &Node{Session: session, Share: k.share() * s.part()}
			k.Share = k.share() - added.Share
			if !s.Before {
				i++
			}
			n.Kids = slices.Insert(n.Kids, i, added)
			return true
		}
		if k.split(at, session, s) {
			return true
		}
	}
	return false
}

// beside makes the node a group of what it was and a session.
func (n *Node) beside(session string, s *Splitting) {
	was, share := *n, n.Share
	was.Share = 0
	*n = *group(s.Stacked, s.pair(&was, Leaf(session)))
	n.Share = share
}

// Keep is the tree without the leaves that keep refuses; nil when none is left. Groups of
// one are dissolved, and a session that occurs again is dropped.
func (n *Node) Keep(keep func(session string) bool) *Node {
	seen := map[string]bool{}
	return n.keep(func(s string) bool {
		if seen[s] || !keep(s) {
			return false
		}
		seen[s] = true
		return true
	}, maxDepth)
}

// maxDepth bounds trees read from files.
const maxDepth = 32

func (n *Node) keep(keep func(string) bool, depth int) *Node {
	if n == nil || depth == 0 {
		return nil
	}
	if len(n.Kids) == 0 {
		if n.Session == "" || !keep(n.Session) {
			return nil
		}
		return &Node{Session: n.Session, Share: n.Share}
	}
	var kids []*Node
	for _, k := range n.Kids {
		k = k.keep(keep, depth-1)
		if k == nil {
			continue
		}
		if n.Piled {
			for _, s := range k.Sessions() {
				kids = append(kids, Leaf(s))
			}
			continue
		}
		if len(k.Kids) > 0 && k.Stacked == n.Stacked && !k.Piled { // a group inside one of its kind
			kids = append(kids, flatten(k)...)
			continue
		}
		kids = append(kids, k)
	}
	g := group(n.Stacked && !n.Piled, kids)
	if g != nil {
		g.Share = n.Share
	}
	if n.Piled && g != nil && len(kids) > 1 {
		g.Piled, g.Open = true, n.Open
		if !g.Has(g.Open) {
			g.Open = kids[len(kids)-1].Session
		}
	}
	return g
}

// flatten are a group's kids, sharing what the group had.
func flatten(g *Node) []*Node {
	total := 0.0
	for _, k := range g.Kids {
		total += k.share()
	}
	for _, k := range g.Kids {
		k.Share = k.share() / total * g.share()
	}
	return g.Kids
}

// Without is the tree without a session.
func (n *Node) Without(session string) *Node {
	return n.Keep(func(s string) bool { return s != session })
}

// Swap exchanges two sessions' places.
func (n *Node) Swap(a, b string) {
	la, lb := n.leaf(a), n.leaf(b)
	if la != nil && lb != nil {
		la.Session, lb.Session = lb.Session, la.Session
		n.each(func(p *Node) {
			switch hasA, hasB := p.Has(a), p.Has(b); {
			case hasA == hasB:
			case p.Open == a:
				p.Open = b
			case p.Open == b:
				p.Open = a
			}
		})
	}
}

// Reorder puts sessions into the leaves, in reading order. There have to be as many.
func (n *Node) Reorder(sessions []string) { n.reorder(sessions) }

func (n *Node) reorder(left []string) []string {
	if len(n.Kids) == 0 {
		n.Session = left[0]
		return left[1:]
	}
	open := slices.IndexFunc(n.Kids, func(k *Node) bool { return n.Piled && k.Session == n.Open })
	for _, k := range n.Kids {
		left = k.reorder(left)
	}
	if open >= 0 { // the same place is open
		n.Open = n.Kids[open].Session
	}
	return left
}

// Rename puts a session in the place of another.
func (n *Node) Rename(old, session string) {
	if l := n.leaf(old); l != nil {
		l.Session = session
		n.each(func(p *Node) {
			if p.Open == old {
				p.Open = session
			}
		})
	}
}

// Even gives all nodes the same share as their siblings.
func (n *Node) Even() {
	if n == nil {
		return
	}
	n.Share = 0
	for _, k := range n.Kids {
		k.Even()
	}
}
