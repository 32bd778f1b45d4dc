package digest

import (
	"strings"
	"testing"
)

// One pass over a line finds a first word of an assertion where looking for each does.
//
// FEATURES: R105
func FuzzAssertionWord(f *testing.F) {
	for _, words := range assertions {
		f.Add(words[0])
		f.Add("x" + strings.ToUpper(words[0]))
		f.Add(words[0][:len(words[0])-1])
	}
	f.Add("GOT 1, want 2")
	f.Fuzz(func(t *testing.T, line string) {
		want := false
		for _, words := range assertions {
			want = want || indexFold(line, words[0]) >= 0
		}
		if got := hasAssertionWord(line); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	})
}

// The newest lines are those that were added and not dropped, in order, however they are moved.
func TestNewest(t *testing.T) {
	var all newest
	first := 0
	for n := range 5000 {
		all.add(line{n: n})
		for len(all.lines()) > 1 && (n%7 == 0 || len(all.lines()) > 100) {
			if l := all.drop(); l.n != first {
				t.Fatalf("line %d is dropped after %d", l.n, first)
			}
			first++
		}
		lines := all.lines()
		if lines[0].n != first || lines[len(lines)-1].n != n || len(lines) != n-first+1 {
			t.Fatalf("%d lines from %d to %d, want %d to %d", len(lines), lines[0].n, lines[len(lines)-1].n, first, n)
		}
	}
	if cap(all.all) > 1000 {
		t.Errorf("room for %d lines, of 100", cap(all.all))
	}
}
