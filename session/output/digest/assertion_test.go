package digest

import (
	"strings"
	"testing"
)

// FuzzAssertionWord compares hasAssertionWord with a search for each word.
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
			t.Errorf("hasAssertionWord(%q) = %v, want %v", line, got, want)
		}
	})
}

// TestLineQueue checks that the queue holds the added and not dropped lines, in order, after each reallocation.
func TestLineQueue(t *testing.T) {
	var all lineQueue
	first := 0
	for n := range 5000 {
		all.add(line{index: n})
		for len(all.lines()) > 1 && (n%7 == 0 || len(all.lines()) > 100) {
			if l := all.drop(); l.index != first {
				t.Fatalf("dropped line %d, want %d", l.index, first)
			}
			first++
		}
		lines := all.lines()
		if lines[0].index != first || lines[len(lines)-1].index != n || len(lines) != n-first+1 {
			t.Fatalf("got %d lines, %d to %d, want %d to %d", len(lines), lines[0].index, lines[len(lines)-1].index, first, n)
		}
	}
	if cap(all.buf) > 1000 {
		t.Errorf("got capacity for %d lines, want about 100", cap(all.buf))
	}
}
