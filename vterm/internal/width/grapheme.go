package width

// Clusters are those of UAX #29 as far as they fit a grid. A letter that takes columns starts a separate cell, even
// where it would join the letters before it, in conjuncts (GB9c) and after prepended marks (GB9b). So do spacing marks
// that take a column, vowel signs of Indic scripts and SARA AM (GB9a would join them), and the halfwidth sound marks
// U+FF9E and U+FF9F (GB9). A cluster is therefore as wide as its letters together, which programs and other terminals
// assume too: a mark in the cell before would be drawn into the next one there, and overwritten. The few vowel signs
// that GB9 treats as marks (U+09BE, U+0BBE, U+0D3E) stay with their letters.

// State is the state of UAX #29 for the current cluster. The zero State means no cluster: the next code point starts
// one.
type State uint8

const (
	stateGCB   State = 0x0f // Grapheme_Cluster_Break of the last code point, or some
	statePict  State = 0x10 // Extended_Pictographic Extend*
	stateOddRI State = 0x20 // an odd number of regional indicators
)

// Plain is the state after a code point that only a mark can join.
const Plain = stateOther

// stateOther distinguishes the state of a cluster of gcbOther from the zero State.
const stateOther State = 12

// Start returns the state after the first code point of a cluster.
func Start(p Props) State {
	g := State(p >> gcbShift & 15)
	s := g
	if g == gcbOther {
		s = stateOther
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
	// stepShift and stepBits select the bits of Props that decide Step: Extended_Pictographic and
	// Grapheme_Cluster_Break.
	stepShift, stepBits = 4, 31
	// stateBits is the mask of a State. stepJoined is set in steps where the code point continues the cluster. stepSlow
	// is an entry for which those bits do not suffice, so step decides.
	stateBits, stepJoined, stepSlow State = 0x3f, 0x40, 0xff
)

// step computes Step without the table, which is generated with it.
func step(s State, p Props) (State, bool) {
	if s == 0 || !joinsGrapheme(s, p) {
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

// Ends reports whether neither a Starter nor half of a flag can continue the cluster.
func Ends(s State) bool { return !Awaits(s) && s&stateOddRI == 0 }

// joinsGrapheme implements rules GB3 to GB999.
func joinsGrapheme(s State, p Props) bool {
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
