package diagnostics

import (
	"slices"
	"strings"
	"testing"
)

// FuzzHinted compares findHints with a search for each hint.
//
// FEATURES: R28
func FuzzHinted(f *testing.F) {
	for _, line := range []string{"", "r", "an error", "FAIL and a WARNING", "warning: not found", "ERROR", "cannot ", "cannot", "xceptio", "panic:", "fatal", "QUJDREVG"} {
		f.Add(line)
	}
	for _, w := range append(append([]string{}, errorHints...), warningHints...) {
		f.Add(w)
		f.Add("x " + w + w)
		f.Add(w[:len(w)-1])
	}
	f.Fuzz(func(t *testing.T, line string) {
		isError, isWarning := findHints(line)
		if want := containsAny(line, errorHints); isError != want {
			t.Errorf("%q: an error's %v, want %v", line, isError, want)
		}
		if want := containsAny(line, warningHints); isWarning != want {
			t.Errorf("%q: a warning's %v, want %v", line, isWarning, want)
		}
	})
}

func containsAny(s string, of []string) bool {
	return slices.ContainsFunc(of, func(sub string) bool { return strings.Contains(s, sub) })
}
