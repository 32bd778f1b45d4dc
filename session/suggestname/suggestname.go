// Package suggestname finds the names that a mistyped word was probably meant to be, for error messages. It is pure and
// imports no other package of longterm.
package suggestname

import (
	"cmp"
	"slices"
)

// Bounds of the search for similar names.
const (
	maxNameBytes = 64
	maxNear      = 3
)

// maxSpelled bounds the names that are compared, in bytes.
const maxSpelled = 128

// Distance returns the number of bytes to insert, delete, change or swap with their neighbour to turn a into b (optimal
// string alignment). For names over 128 bytes it returns the greater length.
func Distance(a, b string) int {
	if len(a) > maxSpelled || len(b) > maxSpelled {
		return max(len(a), len(b))
	}
	var rows [3][maxSpelled + 1]int
	before, last, now := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		now[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
		before, last, now = last, now, before
	}
	return last[len(b)]
}

// Similar returns the names most like name, the best first: at most three, with at most two changes, or one for a short
// name. It omits the name itself.
func Similar(name string, among []string) []string {
	if len(name) > maxNameBytes {
		return nil
	}
	limit := 2
	if len(name) < 5 {
		limit = 1
	}
	type candidate struct {
		name string
		far  int
	}
	var found []candidate
	for _, c := range among {
		if c == name {
			continue
		}
		if d := len(c) - len(name); d > limit || d < -limit {
			continue
		}
		if far := Distance(name, c); far <= limit {
			found = append(found, candidate{c, far})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.far, b.far), -cmp.Compare(common(name, a.name), common(name, b.name)), cmp.Compare(a.name, b.name))
	})
	found = slices.Compact(found)
	var names []string
	for _, c := range found[:min(len(found), maxNear)] {
		names = append(names, c.name)
	}
	return names
}

// common returns the length of the common prefix of two names.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// Nearest returns the name most like a word, or "" if none is similar.
func Nearest(word string, names []string) string {
	for _, n := range Similar(word, names) {
		return n
	}
	return ""
}
