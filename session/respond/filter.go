package respond

import "slices"

// literalFilter finds, in one pass over a line, the rules that can match in it. It is an Aho-Corasick automaton over
// the literals that the rules require, as a table of states by classes of bytes.
type literalFilter struct {
	class      [256]uint8 // class of a byte, case folded; 0: in no literal
	classes    int
	startBytes [256]bool // bytes that leave the start state
	next       []int32   // [state*classes+class]; negated if the state has rules
	rules      [][]int32 // by state: rules whose literal ends here
	unfiltered []int     // rules without a required literal
	seen       []bool    // scratch, by rule: it is in found
	found      []int     // scratch
}

// maxLiteralBytes is the length of the searched part of a literal: enough to be rare.
const maxLiteralBytes = 16

// newFilter returns a filter for the required literals of each rule.
func newFilter(needs [][]string) *literalFilter {
	f := &literalFilter{classes: 1, seen: make([]bool, len(needs))}
	for i, set := range needs {
		for j, s := range set {
			set[j] = s[:min(len(s), maxLiteralBytes)]
			f.classify(set[j])
		}
		if len(set) == 0 {
			f.unfiltered = append(f.unfiltered, i)
		}
	}
	for b := byte('A'); b <= 'Z'; b++ {
		f.class[b] = f.class[foldByte(b)]
	}
	f.addState()
	for i, set := range needs {
		for _, s := range set {
			f.addLiteral(s, int32(i))
		}
	}
	f.link()
	for b := range f.startBytes {
		f.startBytes[b] = f.next[f.class[b]] != 0
	}
	return f
}

// classify gives each byte of a literal a class.
func (f *literalFilter) classify(s string) {
	for _, b := range []byte(s) {
		if f.class[b] == 0 {
			f.class[b] = uint8(f.classes)
			f.classes++
		}
	}
}

// addState adds a state.
func (f *literalFilter) addState() int32 {
	f.next = append(f.next, make([]int32, f.classes)...)
	f.rules = append(f.rules, nil)
	return int32(len(f.rules) - 1)
}

// addLiteral adds the path of a literal to the tree.
func (f *literalFilter) addLiteral(s string, rule int32) {
	var at int32
	for _, b := range []byte(s) {
		i := int(at)*f.classes + int(f.class[b])
		if f.next[i] == 0 {
			to := f.addState()
			f.next[i] = to
		}
		at = f.next[i]
	}
	f.rules[at] = append(f.rules[at], rule)
}

// link turns the tree into the automaton: a missing branch of a state leads where the longest proper suffix of its text
// leads. States are visited in the order of their depth.
func (f *literalFilter) link() {
	fail := make([]int32, len(f.rules))
	queue := []int32{0}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if at != 0 {
			f.rules[at] = append(f.rules[at], f.rules[fail[at]]...)
		}
		queue = f.linkState(at, fail, queue)
	}
	for i, to := range f.next {
		if len(f.rules[to]) > 0 {
			f.next[i] = -to
		}
	}
}

// linkState completes the branches of a state and appends its children to the queue.
func (f *literalFilter) linkState(at int32, fail, queue []int32) []int32 {
	for c := range f.classes {
		to := &f.next[int(at)*f.classes+c]
		var back int32
		if at != 0 {
			back = f.next[int(fail[at])*f.classes+c]
		}
		if *to == 0 {
			*to = back
			continue
		}
		fail[*to] = back
		queue = append(queue, *to)
	}
	return queue
}

// candidates returns the rules that can match in text, ascending, valid until the next call.
func (f *literalFilter) candidates(text []byte) []int {
	f.found = f.found[:0]
	at := 0
	for i := 0; i < len(text); i++ {
		if at == 0 { // no literal has started: skip to a byte that starts one
			for i < len(text) && !f.startBytes[text[i]] {
				i++
			}
			if i == len(text) {
				break
			}
		}
		to := f.next[at*f.classes+int(f.class[text[i]])]
		if to < 0 {
			to = -to
			f.collect(to)
		}
		at = int(to)
	}
	if len(f.found) == 0 {
		return f.unfiltered
	}
	for _, i := range f.found {
		f.seen[i] = false
	}
	f.found = append(f.found, f.unfiltered...)
	slices.Sort(f.found)
	return f.found
}

// collect adds the rules of a state to the found rules.
func (f *literalFilter) collect(state int32) {
	for _, i := range f.rules[state] {
		if !f.seen[i] {
			f.seen[i] = true
			f.found = append(f.found, int(i))
		}
	}
}
