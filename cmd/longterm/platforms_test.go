package main

import (
	"os"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
)

// TestVerbsThatASystemLacks checks that on a system with only the portable verbs, the error for any other verb names
// the lacking and the available ones, like the README.
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
			t.Errorf("%s: not in %q, or not in README.md", name, err)
		}
	}
	if !strings.Contains(err.Error(), "`longterm attach`") || !strings.Contains(err.Error(), "not supported on Windows") {
		t.Error(err)
	}
	if lacking != "" {
		t.Errorf("this system has all verbs, but %q", lacking)
	}
}
