package shell

import "testing"

// FAULT: E2
func TestHasBriefRead(t *testing.T) {
	for line, want := range map[string]bool{
		"read -r -t 0.1 x; sleep 1": true,
		"printf a; read -t .5 x":    true,
		"read -rt0.2 x":             true,
		"read -t 0":                 true,
		"read -t 5 x":               false,
		"read -t 1.5 x":             false,
		"read x; sort -t 0.1":       false,
		"read -r x":                 false,
		"echo thread":               false,
	} {
		if got := HasBriefRead(line); got != want {
			t.Errorf("%q: got %v", line, got)
		}
	}
}
