//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/fastpath"
	"github.com/longterm-dev/longterm/session/pattern"
)

// TestPatternsCompile checks that all patterns are valid: they are compiled when they are first used, so an invalid one
// would be found late.
func TestPatternsCompile(t *testing.T) {
	if len(pattern.Sources()) < 50 {
		t.Errorf("only %d patterns: is the package that compiles them still linked?", len(pattern.Sources()))
	}
	for _, src := range pattern.Sources() {
		if _, err := regexp.Compile(src); err != nil {
			t.Error(err)
		}
	}
}

// TestNoRegexpBeforeMain checks that no package of ours compiles regular expressions before main, which every verb
// would pay for.
func TestNoRegexpBeforeMain(t *testing.T) {
	out, err := exec.Command("grep", "-rnE", `^(var [A-Za-z_]+|	[A-Za-z_]+) += regexp\.MustCompile`, "--include=*.go", "--exclude=*_test.go", "--exclude-dir=release", "../..").Output()
	if e, ok := err.(*exec.ExitError); err != nil && (!ok || e.ExitCode() != 1) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		t.Errorf("%s: use pattern.Lazy", strings.TrimSpace(line))
	}
}

// TestLittleIsDoneBeforeMain checks that packages do little before main, since every verb pays for it and uses few of
// them. The work is counted in allocations, which are the same on every machine: tables that need many are built when
// they are first used (sync.OnceValue).
func TestLittleIsDoneBeforeMain(t *testing.T) {
	const (
		most     = 2000 // of our packages
		mostEach = 400  // of any of them
	)
	cmd := exec.Command(e2e.Build(t), "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1", fastpath.DisableEnv+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ours, seen := 0, 0
	for line := range strings.Lines(string(out)) {
		// init PACKAGE @0.1 ms, 0.2 ms clock, 300 bytes, 4 allocs
		f := strings.Fields(line)
		if len(f) < 11 || f[0] != "init" || f[1] != "main" && !strings.HasPrefix(f[1], module) {
			continue
		}
		n, err := strconv.Atoi(f[9])
		if err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if ours, seen = ours+n, seen+1; n > mostEach {
			t.Errorf("%s makes %d allocations before main, more than %d", f[1], n, mostEach)
		}
	}
	if seen < 10 {
		t.Fatalf("%d packages of ours in the trace:\n%s", seen, out)
	}
	if ours > most {
		t.Errorf("our packages make %d allocations before main, more than %d", ours, most)
	}
}

// TestKeepingComesEarly checks that a keeper starts before most packages are initialised: it lives as long as its
// sessions, and keeps their memory. The work before it is counted in allocations.
func TestKeepingComesEarly(t *testing.T) {
	cmd := exec.Command(e2e.Build(t), "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1", fastpath.DisableEnv+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	before, all := -1, 0
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 11 || f[0] != "init" {
			continue
		}
		if f[1] == module+"/cmd/internal/keepermain" {
			before = all
		}
		n, err := strconv.Atoi(f[9])
		if err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		all += n
	}
	if before < 0 || before > all*2/5 {
		t.Errorf("%d allocations of %d are made before the keeper's process starts; which package does one of its files import?", before, all)
	}
	// It does not reach main: the directory does not exist, so it ends at once.
	none := filepath.Join(t.TempDir(), "none")
	cmd = exec.Command(e2e.Build(t), "keeper", "--socket", filepath.Join(none, "s"), "--lock", filepath.Join(none, "l"))
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err = cmd.CombinedOutput()
	if err == nil || strings.Contains(string(out), "\ninit main ") || !strings.Contains(string(out), "\nlongterm: ") {
		t.Errorf("%v\n%s", err, out)
	}
}
