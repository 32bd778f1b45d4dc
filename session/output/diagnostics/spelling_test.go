package diagnostics

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
