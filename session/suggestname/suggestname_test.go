package suggestname

import (
	"strings"
	"testing"
)

// FEATURES: R29
func TestDistance(t *testing.T) {
	long := strings.Repeat("x", maxSpelled)
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"git", "git", 0}, {"gti", "git", 1}, {"gt", "git", 1}, {"gitt", "git", 1}, {"gat", "git", 1},
		{"", "ab", 2}, {"abc", "", 3}, {"abcd", "badc", 2}, {long, long, 0}, {long, long[1:], 1}, {long + "x", "x", maxSpelled + 1},
	} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("%.10s, %.10s: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// FEATURES: R29
func TestNear(t *testing.T) {
	long := strings.Repeat("x", maxNameBytes)
	for _, c := range []struct {
		word  string
		among []string
		want  string
	}{
		{"gti", []string{"git", "gtk", "ls"}, "gtk git"},
		{"git", []string{"git"}, ""},
		{"mkae", []string{"cmake", "make", "mke2fs"}, "make"},
		{"statsu", []string{"stats", "status", "start", "statue", "state"}, "stats status state"},
		{"lss", []string{"less", "ls", "lsof"}, "ls less"},
		{long, []string{long + "yy"}, long + "yy"}, // names of the greatest length
		{long + "x", []string{long}, ""},
		{"", []string{"a"}, "a"},
		{"x", nil, ""},
	} {
		got := Similar(c.word, c.among)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%.10s among %.40q: %.40q, want %.40q", c.word, c.among, got, c.want)
		}
		first, _, _ := strings.Cut(c.want, " ")
		if n := Nearest(c.word, c.among); n != first {
			t.Errorf("%.10s: the nearest is %.10q, want %.10q", c.word, n, first)
		}
	}
}
