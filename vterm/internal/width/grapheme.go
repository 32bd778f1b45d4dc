package width

// State is what UAX #29 has to remember of the cluster so far. The zero State stands
// for no cluster: everything breaks.
type State uint8

const (
	stateGCB      State = 0x0f // Grapheme_Cluster_Break of the last code point, or some
	statePict     State = 0x10 // Extended_Pictographic Extend*
	stateOddRI    State = 0x20 // an odd number of regional indicators
	stateConjunct State = 0x40 // a consonant, then marks
	stateLinked   State = 0x80 // and a linker among them
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
	if p>>incbShift&3 == incbConsonant {
		s |= stateConjunct
	}
	return s
}

// Step reports whether a code point continues the cluster, and the state after it.
func Step(s State, p Props) (State, bool) {
	if s == 0 || !joined(s, p) {
		return Start(p), false
	}
	return next(s, p), true
}

// Prepends reports whether whatever comes next, but a control, joins the cluster.
func Prepends(s State) bool { return s&stateGCB == gcbPrepend }

// Awaits reports whether a Starter can continue the cluster.
func Awaits(s State) bool {
	switch int(s & stateGCB) {
	case gcbPrepend, gcbL, gcbZWJ:
		return true
	}
	return s&stateLinked != 0
}

// joined is rules GB3 to GB999.
func joined(s State, p Props) bool {
	last, g := int(s&stateGCB), int(p>>gcbShift&15)
	switch {
	case last == gcbControl || g == gcbControl: // GB4, GB5
		return false
	case g == gcbExtend || g == gcbZWJ || g == gcbSpacing: // GB9, GB9a
		return true
	case last == gcbPrepend: // GB9b
		return true
	case last == gcbL: // GB6
		return g == gcbL || g == gcbV || g == gcbLV || g == gcbLVT
	case last == gcbLV || last == gcbV: // GB7
		return g == gcbV || g == gcbT
	case last == gcbLVT || last == gcbT: // GB8
		return g == gcbT
	case s&stateLinked != 0 && p>>incbShift&3 == incbConsonant: // GB9c
		return true
	case last == gcbZWJ && s&statePict != 0: // GB11
		return p&pictograph != 0
	}
	return g == gcbRegional && s&stateOddRI != 0 // GB12, GB13
}

func next(s State, p Props) State {
	n := Start(p)
	g, c := p>>gcbShift&15, p>>incbShift&3
	if g == gcbExtend || g == gcbZWJ && s&stateGCB != gcbZWJ {
		n |= s & statePict // GB11: one ZWJ, behind any number of Extend
	}
	if g == gcbRegional && s&stateOddRI != 0 {
		n &^= stateOddRI
	}
	if s&stateConjunct != 0 && (c == incbExtend || c == incbLinker) {
		n |= s & (stateConjunct | stateLinked)
		if c == incbLinker {
			n |= stateLinked
		}
	}
	return n
}
