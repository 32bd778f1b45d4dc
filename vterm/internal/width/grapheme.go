package width

// Clusters are those of UAX #29 as far as they fit a grid: a letter that takes columns of its own begins a cell of its
// own, also where it would join the letters before it, in conjuncts (GB9c) and after prepended marks (GB9b), and so do
// spacing marks that take one, vowel signs of Indic scripts and SARA AM (GB9a would join them), and the halfwidth sound marks
// U+FF9E and U+FF9F (GB9). So a cluster is as wide as its letters together, which is how wide programs and other terminals
// think it is: a mark in the cell before would be drawn into the next one there, and written over. The few vowel signs that
// GB9 takes for marks (U+09BE, U+0BBE, U+0D3E) stay with their letters.

// State is what UAX #29 has to remember of the cluster so far. The zero State stands
// for no cluster: everything breaks.
type State uint8

const (
	stateGCB   State = 0x0f // Grapheme_Cluster_Break of the last code point, or some
	statePict  State = 0x10 // Extended_Pictographic Extend*
	stateOddRI State = 0x20 // an odd number of regional indicators
)

// Plain is the state after a code point that nothing but a mark can join.
const Plain = some

// some keeps the state of a cluster of gcbOther apart from the zero State.
const some State = 12

// Start is the state after the first code point of a cluster.
func Start(p Props) State {
	g := State(p >> gcbShift & 15)
	s := g
	if g == gcbOther {
		s = some
	}
	switch {
	case g == gcbRegional:
		s |= stateOddRI
	case p&pictograph != 0:
		s |= statePict
	}
	return s
}

// Step reports whether a code point continues the cluster, and the state after it.
func Step(s State, p Props) (State, bool) {
	e := steps[s&stateBits][p>>stepShift&stepBits]
	if e == stepSlow {
		return step(s, p)
	}
	return e & stateBits, e&stepJoined != 0
}

const (
	// stepShift and stepBits are what Step is decided by: Extended_Pictographic and Grapheme_Cluster_Break.
	stepShift, stepBits = 4, 31
	// stateBits are those of a State. stepJoined is set in steps where the code point continues the cluster; stepSlow is an
	// entry for step, as more than those bits decides.
	stateBits, stepJoined, stepSlow State = 0x3f, 0x40, 0xff
)

// step is Step, worked out: what the table is made with.
func step(s State, p Props) (State, bool) {
	if s == 0 || !joined(s, p) {
		return Start(p), false
	}
	return next(s, p), true
}

// Awaits reports whether a Starter can continue the cluster.
func Awaits(s State) bool {
	switch int(s & stateGCB) {
	case gcbL, gcbZWJ:
		return true
	}
	return false
}

// Ends reports whether neither a Starter nor half a flag can continue the cluster.
func Ends(s State) bool { return !Awaits(s) && s&stateOddRI == 0 }

// joined is rules GB3 to GB999.
func joined(s State, p Props) bool {
	last, g := int(s&stateGCB), int(p>>gcbShift&15)
	switch {
	case last == gcbControl || g == gcbControl: // GB4, GB5
		return false
	case g == gcbExtend || g == gcbZWJ || g == gcbSpacing: // GB9, GB9a
		return true
	case last == gcbPrepend: // GB9b
		return p.Columns() == 0
	case last == gcbL: // GB6
		return g == gcbL || g == gcbV || g == gcbLV || g == gcbLVT
	case last == gcbLV || last == gcbV: // GB7
		return g == gcbV || g == gcbT
	case last == gcbLVT || last == gcbT: // GB8
		return g == gcbT
	case last == gcbZWJ && s&statePict != 0: // GB11
		return p&pictograph != 0
	}
	return g == gcbRegional && s&stateOddRI != 0 // GB12, GB13
}

func next(s State, p Props) State {
	n := Start(p)
	g := p >> gcbShift & 15
	if g == gcbExtend || g == gcbZWJ && s&stateGCB != gcbZWJ {
		n |= s & statePict // GB11: one ZWJ, behind any number of Extend
	}
	if g == gcbRegional && s&stateOddRI != 0 {
		n &^= stateOddRI
	}
	return n
}
