//go:build unix

package bench

import (
	"slices"
	"strings"
	"testing"
)

func TestCurves(t *testing.T) {
	for most, want := range map[int][]int{1: {1}, 2: {1, 2}, 10: {1, 10}, 1000: {1, 10, 100, 1000}, 1001: {1, 10, 100, 1000, 1001}} {
		if got := steps(most); !slices.Equal(got, want) {
			t.Errorf("up to %d: %v", most, got)
		}
	}
	var s scaleBench
	s.add("flat", "ms", "things", 1, 3, 1, 2)
	s.add("flat", "ms", "things", 10, 4, 4, 4)
	s.add("bent", "µs", "things", 1, 10)
	s.add("bent", "µs", "things", 10, 21)
	s.add("bent", "µs", "things", 100, 100)
	var b strings.Builder
	writeCurves(&b, s.curves)
	want := "flat, ms  does not bend  p50     p99\n" +
		"          1 things       2.00    3.00\n" +
		"          10 things      4.00    4.00\n" +
		"bent, µs  bends at 10    p50     p99\n" +
		"          1 things       10.00   -\n" +
		"          10 things      21.00   -\n" +
		"          100 things     100.00  -\n"
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
}
