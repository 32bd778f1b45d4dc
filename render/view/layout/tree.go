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

// Center returns the middle position.
func (r Rect) Center() (x, y int) { return r.X + r.W/2, r.Y + r.H/2 }

// Node is a leaf with a session, or a group of at least two nodes.
type Node struct {
	Session string  `json:"session,omitempty"`
	Stacked bool    `json:"stacked,omitempty"` // arranged from top to bottom; else side by side
	Kids    []*Node `json:"kids,omitempty"`
	// the children, which are leaves, are stacked: only Open's pane is open, and the others show a title
	IsStack bool    `json:"piled,omitempty"`
	Open    string  `json:"open,omitempty"`
	Share   float64 `json:"share,omitempty"` // share of the space, relative to its siblings; 0: 1
}

// Leaf returns a leaf with a session.
func Leaf(session string) *Node { return &Node{Session: session} }

// Row returns a group of nodes side by side.
func Row(kids ...*Node) *Node { return group(false, kids) }

// Stack returns a group of nodes from top to bottom.
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
	return min(max(n.Share, 1e-3), 1e6) // files may hold any number
}

// Sessions returns the leaves in reading order.
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

// Splitting describes the position of a new pane and its share of the space.
type Splitting struct {
	Stacked    bool    // below the other one; else to its right
	Before     bool    // above it, or to its left
	FullLength bool    // along all panes, not only next to the other one
	Share      float64 // share of the space between 0 and 1; 0: half
}

// part returns the share of the new pane.
func (s *Splitting) part() float64 {
	if s.Share <= 0 || s.Share >= 1 {
		return 0.5
	}
	return s.Share
}

// pair returns the two nodes in order.
func (s *Splitting) pair(old, added *Node) []*Node {
	if s.Share > 0 {
		old.Share, added.Share = 1-s.part(), s.part()
	}
	if s.Before {
		return []*Node{added, old}
	}
	return []*Node{old, added}
}

// Split adds a session after another session: below it, or to its right. A tree without that session gets it at its end; a
// nil tree becomes a leaf.
func (n *Node) Split(at, session string, stacked bool) *Node {
	return n.SplitBy(at, session, Splitting{Stacked: stacked})
}

// SplitBy is Split with a position and a share.
func (n *Node) SplitBy(at, session string, s Splitting) *Node {
	switch {
	case n == nil:
		return Leaf(session)
	case s.FullLength:
		n.groupWith(session, &s)
		return n.Filter(func(string) bool { return true }) // no group inside one of its kind
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
		n.groupWith(session, s)
		return true
	}
	if n.IsStack {
		if n.Has(at) {
			n.groupWith(session, s) // of all of it
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

// groupWith turns the node into a group of itself and a session.
func (n *Node) groupWith(session string, s *Splitting) {
	was, share := *n, n.Share
	was.Share = 0
	*n = *group(s.Stacked, s.pair(&was, Leaf(session)))
	n.Share = share
}

// Filter returns the tree without the leaves that keep rejects, or nil if none remains. It dissolves groups of one and
// drops duplicate sessions.
func (n *Node) Filter(keep func(session string) bool) *Node {
	seen := map[string]bool{}
	return n.filter(func(s string) bool {
		if seen[s] || !keep(s) {
			return false
		}
		seen[s] = true
		return true
	}, maxDepth)
}

// maxDepth limits trees read from files.
const maxDepth = 32

func (n *Node) filter(keep func(string) bool, depth int) *Node {
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
		k = k.filter(keep, depth-1)
		if k == nil {
			continue
		}
		if n.IsStack {
			for _, s := range k.Sessions() {
				kids = append(kids, Leaf(s))
			}
			continue
		}
		if len(k.Kids) > 0 && k.Stacked == n.Stacked && !k.IsStack { // a group inside one of its kind
			kids = append(kids, flatten(k)...)
			continue
		}
		kids = append(kids, k)
	}
	g := group(n.Stacked && !n.IsStack, kids)
	if g != nil {
		g.Share = n.Share
	}
	if n.IsStack && g != nil && len(kids) > 1 {
		g.IsStack, g.Open = true, n.Open
		if !g.Has(g.Open) {
			g.Open = kids[len(kids)-1].Session
		}
	}
	return g
}

// flatten returns a group's children, with the group's share divided among them.
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

// Without returns the tree without a session.
func (n *Node) Without(session string) *Node {
	return n.Filter(func(s string) bool { return s != session })
}

// Swap exchanges two sessions' places.
func (n *Node) Swap(a, b string) {
	la, lb := n.leaf(a), n.leaf(b)
	if la != nil && lb != nil {
		la.Session, lb.Session = lb.Session, la.Session
		n.eachStack(func(p *Node) {
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

// Reorder assigns sessions to the leaves in reading order. Their number must match.
func (n *Node) Reorder(sessions []string) { n.reorder(sessions) }

// reorder assigns sessions to the leaves in order, and returns the remaining ones.
func (n *Node) reorder(left []string) []string {
	if len(n.Kids) == 0 {
		n.Session = left[0]
		return left[1:]
	}
	open := slices.IndexFunc(n.Kids, func(k *Node) bool { return n.IsStack && k.Session == n.Open })
	for _, k := range n.Kids {
		left = k.reorder(left)
	}
	if open >= 0 { // the same place is open
		n.Open = n.Kids[open].Session
	}
	return left
}

// Rename replaces a session by another.
func (n *Node) Rename(old, session string) {
	if l := n.leaf(old); l != nil {
		l.Session = session
		n.eachStack(func(p *Node) {
			if p.Open == old {
				p.Open = session
			}
		})
	}
}

// Even gives all nodes equal shares.
func (n *Node) Even() {
	if n == nil {
		return
	}
	n.Share = 0
	for _, k := range n.Kids {
		k.Even()
	}
}
