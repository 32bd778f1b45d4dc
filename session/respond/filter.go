package respond

import "slices"

// filter returns in one pass over a line the rules that can match in it. It is an automaton over the literals that the
// rules need (Aho and Corasick, 1975), as a table of states by classes of bytes.
type filter struct {
	class   [256]uint8 // of a byte, case folded; 0: in no literal
	classes int
	begins  [256]bool // bytes that lead out of the first state
	next    []int32   // [state*classes+class]; the negative of a state if it has rules
	rules   [][]int32 // by state: rules whose literal ends here
	always  []int     // rules that need no literal
	seen    []bool    // scratch, by rule
	found   []int     // scratch
}

// maxNeedBytes is the length of the searched part of a literal: enough to be rare.
const maxNeedBytes = 16

// newFilter returns a filter for the literals of each rule.
func newFilter(needs [][]string) *filter {
	f := &filter{classes: 1, seen: make([]bool, len(needs))}
	for i, set := range needs {
		for j, s := range set {
			set[j] = s[:min(len(s), maxNeedBytes)]
			f.classify(set[j])
		}
		if len(set) == 0 {
			f.always = append(f.always, i)
		}
	}
	for b := byte('A'); b <= 'Z'; b++ {
		f.class[b] = f.class[foldByte(b)]
	}
	f.grow()
	for i, set := range needs {
		for _, s := range set {
			f.add(s, int32(i))
		}
	}
	f.link()
	for b := range f.begins {
		f.begins[b] = f.next[f.class[b]] != 0
	}
	return f
}

func (f *filter) classify(s string) {
	for _, b := range []byte(s) {
		if f.class[b] == 0 {
			f.class[b] = uint8(f.classes)
			f.classes++
		}
	}
}

// grow adds a state.
func (f *filter) grow() int32 {
	f.next = append(f.next, make([]int32, f.classes)...)
	f.rules = append(f.rules, nil)
	return int32(len(f.rules) - 1)
}

func (f *filter) add(s string, rule int32) {
	var at int32
	for _, b := range []byte(s) {
		i := int(at)*f.classes + int(f.class[b])
		if f.next[i] == 0 {
			to := f.grow()
			f.next[i] = to
		}
		at = f.next[i]
	}
	f.rules[at] = append(f.rules[at], rule)
}

// link turns the tree into the automaton: where it has no branch, a state goes where
// the longest proper end of it goes. States are met shortest first.
func (f *filter) link() {
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

func (f *filter) linkState(at int32, fail, queue []int32) []int32 {
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
func (f *filter) candidates(text []byte) []int {
	f.found = f.found[:0]
	at := 0
	for i := 0; i < len(text); i++ {
		if at == 0 { // no literal has started: skip to a byte that starts one
			for i < len(text) && !f.begins[text[i]] {
				i++
			}
			if i == len(text) {
				break
			}
		}
		to := f.next[at*f.classes+int(f.class[text[i]])]
		if to < 0 {
			to = -to
			f.hit(to)
		}
		at = int(to)
	}
	if len(f.found) == 0 {
		return f.always
	}
	for _, i := range f.found {
		f.seen[i] = false
	}
	f.found = append(f.found, f.always...)
	slices.Sort(f.found)
	return f.found
}

func (f *filter) hit(state int32) {
	for _, i := range f.rules[state] {
		if !f.seen[i] {
			f.seen[i] = true
			f.found = append(f.found, int(i))
		}
	}
}
