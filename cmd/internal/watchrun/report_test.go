//go:build unix

package watchrun

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/output/diagnostics"
	"github.com/longterm-dev/longterm/session/output/progress"
)

func TestReportLines(t *testing.T) {
	zero, one := 0, 1
	good := &diagnostics.Run{Exit: &zero, Duration: 2 * time.Second}
	bad := &diagnostics.Run{Exit: &one, Duration: 300 * time.Millisecond, Result: diagnostics.Result{Tests: &diagnostics.Tests{Passed: 3, Failed: 1, Failures: []diagnostics.Failure{{Name: "TestA"}}}}}
	lost := &diagnostics.Run{Duration: time.Second}
	killed := &diagnostics.Run{Signal: "SIGKILL", Duration: time.Minute}
	for _, c := range []struct {
		name string
		r    report
		want []string
	}{
		{"the first, good", report{run: good}, []string{"✓ done in 2.0s"}},
		{"the first, bad", report{run: bad}, []string{"✗ exit 1 in 300ms, tests: 3 passed, 1 failed", "fails: TestA"}},
		{"lost", report{run: lost}, []string{"✗ lost in 1.0s", Lost}},
		{
			"lost, after a good one", report{run: lost, before: good, changes: &diagnostics.Changes{ExitChanged: true}},
			[]string{"✗ lost in 1.0s", Lost, "status: 0 before, lost now"},
		},
		{"killed", report{run: killed}, []string{"✗ SIGKILL in 1m00s"}},
		{
			"then bad", report{run: bad, before: good, changes: &diagnostics.Changes{ExitChanged: true, Slower: -1700 * time.Millisecond, NewFailures: []string{"TestA"}}},
			[]string{"✗ exit 1 in 300ms (−1.7s), tests: 3 passed, 1 failed", "status: 0 before, 1 now", "fails now: TestA"},
		},
	} {
		if got := c.r.lines(); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s: %q", c.name, got)
		}
	}
	many := appendItems(nil, "new: ", make([]string, 7), func(string) string { return "x" })
	if len(many) != maxListed+1 || many[maxListed] != "new: and 2 more" {
		t.Errorf("%q", many)
	}
}

// FAULT: H22
//
// FEATURES: R82
func TestReport_FirstErrorIsTheAssertion(t *testing.T) {
	one := 1
	text := "--- FAIL: TestA (0.00s)\n    a_test.go:4: got 1, want 2\nFAIL\nFAIL\texample.org/x\t0.1s\n"
	r := report{run: &diagnostics.Run{Exit: &one, Duration: time.Second, Result: diagnostics.Parse("go test", &one, text)}}
	r.state.Errors, r.state.First = 1, &progress.Problem{Message: "TestA failed"}
	want := "✗ exit 1 in 1.0s, 1 error, tests: 0 passed, 1 failed\nfirst error: a_test.go:4: got 1, want 2\nfails: TestA"
	if got := strings.Join(r.lines(), "\n"); got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

// TestReportLooks checks that improvements are green, regressions red, and that the remaining line counts both.
//
// FEATURES: R82
func TestReportLooks(t *testing.T) {
	zero := 0
	d := diagnostics.Diagnostic{File: "a.c", Line: 3, Message: "x"}
	r := report{run: &diagnostics.Run{Exit: &zero, Duration: time.Second}, before: &diagnostics.Run{Exit: &zero}, changes: &diagnostics.Changes{
		FixedErrors: []diagnostics.Diagnostic{d, d}, FixedTests: []string{"TestA"}, NewErrors: []diagnostics.Diagnostic{d}, NewFailures: []string{"TestB"},
	}}
	var got []string
	for _, l := range r.lines() {
		got = append(got, colorOf(l)+l)
	}
	want := "✓ done in 1.0s|\x1b[31mnew: a.c:3: x|\x1b[32mfixed: a.c:3: x|\x1b[32mfixed: a.c:3: x|\x1b[31mfails now: TestB|\x1b[32mpasses again: TestA"
	if strings.Join(got, "|") != want {
		t.Errorf("%q; want %q", got, want)
	}
	if got := r.brief(2); got != "✓ done in 1.0s, 3 fixed, 2 new (e: edit)" {
		t.Errorf("%q", got)
	}
}

func TestReportJSON(t *testing.T) {
	var b bytes.Buffer
	v := &jsonView{w: &b}
	v.report(&report{n: 2, command: "make <x>", run: &diagnostics.Run{Signal: "SIGINT"}})
	var got map[string]any
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || got["run"] != 2.0 || got["exit_code"] != nil || got["command"] != "make <x>" {
		t.Errorf("%s %v", b.String(), err)
	}
	if list, ok := got["changed_files"].([]any); !ok || len(list) != 0 {
		t.Errorf("changed files: %v", got["changed_files"])
	}
}

func TestStatusText(t *testing.T) {
	s := progress.State{Elapsed: 5 * time.Second, HasETA: true, ETA: 90 * time.Second, Errors: 1, Warnings: 2}
	s.Progress.Kind, s.Progress.Fraction, s.Progress.Current, s.Progress.Total = progress.Normal, 0.5, 2, 4
	want := "████████░░░░░░░░ 50%  2/4  5.0s  ETA 1m30s  1 error  2 warnings"
	if got := statusText(s); got != want {
		t.Errorf("%q", got)
	}
}

func TestCauseText(t *testing.T) {
	for want, cause := range map[string][]string{
		"": {}, "a.go changed": {"a.go"}, "a, b, c changed": {"a", "b", "c"}, "a and 3 more files changed": {"a", "b", "c", "d"},
	} {
		if got := causeText(cause); got != want {
			t.Errorf("%q", got)
		}
	}
}

// TestCut checks that text is cut at cells, not at bytes.
func TestCut(t *testing.T) {
	for _, c := range []struct {
		text string
		cols int
		want string
	}{{"abc", 5, "abc"}, {"abc", 2, "a…"}, {"你好", 3, "你…"}, {"e\u0301xy", 2, "e\u0301…"}, {"abc", 1, "…"}, {"abc", 0, ""}} {
		if got := cut(c.text, c.cols); got != c.want {
			t.Errorf("%q to %d: %q", c.text, c.cols, got)
		}
	}
}
