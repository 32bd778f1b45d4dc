package main

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/pattern"
)

// Patterns are compiled when they are first used, so a wrong one would be found late: here.
func TestPatternsCompile(t *testing.T) {
	if len(pattern.Sources()) < 50 {
		t.Errorf("only %d patterns: is what makes them still linked?", len(pattern.Sources()))
	}
	for _, src := range pattern.Sources() {
		if _, err := regexp.Compile(src); err != nil {
			t.Error(err)
		}
	}
}

// Every verb pays for what packages do before main: nothing of ours compiles regular
// expressions there.
func TestNoRegexpBeforeMain(t *testing.T) {
	out, err := exec.Command("grep", "-rnE", `^(var [A-Za-z_]+|	[A-Za-z_]+) += regexp\.MustCompile`, "--include=*.go", "--exclude=*_test.go", "--exclude-dir=release", "../..").Output()
	if e, ok := err.(*exec.ExitError); err != nil && (!ok || e.ExitCode() != 1) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		t.Errorf("%s: use pattern.Lazy", strings.TrimSpace(line))
	}
}
