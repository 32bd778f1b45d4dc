package diagnostics

import (
	"cmp"
	"slices"
)

// Bounds of the search for similar names.
const (
	maxNameBytes = 64
	maxNearest   = 3
)

// suggestNearest finds programs whose names are like that of one that does not exist.
func suggestNearest(s *situation) []Suggestion {
	name := s.find(notFound)
	if name == "" || *s.Result.Exit != 127 {
		return nil
	}
	var all []Suggestion
	for _, n := range nearest(name, s.Programs) {
		if line := replaceWord(s.Line, name, n); line != "" {
			all = append(all, Suggestion{Command: line, Reason: "there is no " + name + ", but " + n})
		}
	}
	return all
}

// nearest are the names most like a name, the best first.
func nearest(name string, among []string) []string {
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
		if c == name || !testName.MatchString(c) {
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
	for _, c := range found[:min(len(found), maxNearest)] {
		names = append(names, c.name)
	}
	return names
}

// common is how many letters two names begin with alike.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// Nearest is the name most like a word; empty: none is.
func Nearest(word string, names []string) string {
	for _, n := range nearest(word, names) {
		return n
	}
	return ""
}
