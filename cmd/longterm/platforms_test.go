package main

import (
	"os"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
)

// Where only the portable verbs are, any other word is told what is lacking and what there is; the README tells the same.
//
// FEATURES: R95
func TestVerbsThatASystemLacks(t *testing.T) {
	err := lacksVerb("attach", "sessions are not supported on Windows yet")
	if exit.Status(err) != 2 {
		t.Errorf("status %d: %v", exit.Status(err), err)
	}
	readme, readErr := os.ReadFile("../../README.md")
	if readErr != nil {
		t.Fatal(readErr)
	}
	_, windows, _ := strings.Cut(string(readme), "Windows has no sessions")
	for i := range portable {
		if name := portable[i].name; !strings.Contains(err.Error(), name) || !strings.Contains(windows, "`"+name+"`") {
			t.Errorf("%s: not told in %q, or in README.md", name, err)
		}
	}
	if !strings.Contains(err.Error(), "`longterm attach`") || !strings.Contains(err.Error(), "not supported on Windows") {
		t.Error(err)
	}
	if lacking != "" {
		t.Errorf("here all verbs are, and yet %q", lacking)
	}
}
