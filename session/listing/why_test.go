package listing

import (
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/output/diagnostics"
)

// ptr returns a pointer to v.
func ptr[T any](v T) *T { return &v }

// fullWhy returns a comparison with more entries than are shown.
func fullWhy() *api.Why {
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	w := &api.Why{
		Run:   api.ComparedRun{Name: "build", Command: 12, Line: "make\n  test", State: "done", ExitCode: ptr(2), Started: at, DurationMS: 3100},
		Good:  &api.ComparedRun{Name: "ci", Command: 3, Line: "make test", State: "done", ExitCode: ptr(0), Started: at.Add(-2 * time.Hour), DurationMS: 2900},
		Match: "same", Recent: 20, RecentBad: 4, MissingLines: 1, NewLines: 9, FileCount: 9, Dropped: 1,
		Committed: []string{"a.c"}, Locks: []string{"go.sum"}, Notes: []string{"n1"}, Partial: true,
	}
	for _, x := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		w.New = append(w.New, api.WhyLine{Number: 7, Text: x + ".c:1: error: no " + x + "\x1b[2J", Telling: true})
		w.NewErrors = append(w.NewErrors, diagnostics.Diagnostic{File: x + ".h", Line: 3, Message: "bad " + x})
		w.FixedErrors = append(w.FixedErrors, diagnostics.Diagnostic{Message: "gone " + x})
		w.NewFailures, w.FixedTests = append(w.NewFailures, "Test"+x), append(w.FixedTests, "Old"+x)
		w.Commits = append(w.Commits, api.WhyCommit{ID: "abc", Subject: "change " + x, Author: "Ada"})
		w.Files = append(w.Files, x+".txt")
		w.Variables = append(w.Variables, api.WhyVariable{Name: strings.ToUpper(x), After: ptr("1")})
		w.Versions = append(w.Versions, api.WhyVersion{Name: x, Before: "1.0", After: "2.0"})
	}
	return w
}

// FEATURES: R127
func TestWhyLines_InOrder(t *testing.T) {
	lines := WhyLines(fullWhy())
	text := strings.Join(lines, "\n")
	at := -1
	for _, want := range []string{
		"build:12 `make test` failed with exit 2 after 3.1s; compared with ci:3, 2h", "first new line (line 7): a.c:1: error: no a", "new error: a.h:3: bad a",
		"new error: and 5 more", "test fails now: Testa", "also new (line 7): b.c", "error gone: gone a", "test passes again: Olda", "commit: abc change a (Ada)",
		"files in these commits: a.c", "changed files without a commit: a.txt, b.txt, c.txt, d.txt, e.txt, f.txt and 3 more", "changed lock files: go.sum",
		`variable A: not set → "1"`, "version of a: 1.0 → 2.0", "4 of the 20 runs before it failed, too", "time: 3.1s, and 2.9s in the good run", "note: n1",
	} {
		i := strings.Index(text, want)
		if i <= at {
			t.Errorf("got no %q in order in\n%s", want, text)
		}
		at = i
	}
	if strings.ContainsRune(text, 0x1b) {
		t.Error("got escape sequences")
	}
}

func TestWhyLines_FewForUsualRuns(t *testing.T) {
	w := fullWhy()
	w.NewErrors, w.NewFailures, w.FixedErrors, w.FixedTests, w.Versions = w.NewErrors[:2], w.NewFailures[:2], nil, nil, nil
	w.Commits, w.Variables, w.Dropped, w.Partial = w.Commits[:3], w.Variables[:2], 0, false
	if lines := WhyLines(w); len(lines) > 25 {
		t.Errorf("%d lines:\n%s", len(lines), strings.Join(lines, "\n"))
	}
}

func TestWhyLines_WithoutGoodRun(t *testing.T) {
	w := &api.Why{Run: api.ComparedRun{Name: "b", Line: "make", State: "done", Signal: "KILL"}, FirstError: &api.WhyLine{Number: 3, Text: "boom"}, Recent: 3, RecentBad: 3}
	text := strings.Join(WhyLines(w), "\n")
	for _, want := range []string{"b `make` was ended by KILL", "first error (line 3): boom", "no good run", "3 of the 3 runs before it failed"} {
		if !strings.Contains(text, want) {
			t.Errorf("got no %q in\n%s", want, text)
		}
	}
}
