package results

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
		if far := distance(name, c); far <= limit {
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

// distance is the number of letters to insert, delete, change or swap with their
// neighbour to make b of a (optimal string alignment).
func distance(a, b string) int {
	var rows [3][maxNameBytes + 3]int
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
