//go:build unix

package main

import (
	"io"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/approvals"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/audit"
	"github.com/rivo/uniseg"
)

// What looks like a regular expression is recognised; ordinary texts are not.
//
// FAULT: J
func TestRegexpSigns(t *testing.T) {
	for text, want := range map[string]bool{
		`a\|b`: true, "err.*": true, "[0-9]+": true, `\d`: true, "^x": true, "x$": true, "(a|b)": true,
		"hello": false, "main.go:7": false, "a|b": false, "f(x)": false, "3 tests failed": false,
	} {
		if got := regexpSigns.MatchString(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// Lists have a header. Their rows fit the terminal's width; without a terminal nothing is cut.
//
// FAULT: H19
func TestLists_FitTheTerminal(t *testing.T) {
	long := strings.Repeat("make all ", 30)
	code := 3
	home := "/home/me"
	for name, write := range map[string]func(w io.Writer, width int){
		"ID        STATE": func(w io.Writer, width int) {
			jobTable(w, jobColumns, []api.Job{{ID: "0123456789", State: "done", Name: "s", Line: long, Result: &api.Result{State: "exited", ExitCode: &code}}}, width)
		},
		"SESSION     N  STARTED": func(w io.Writer, width int) {
			commandTable(w, []api.Command{{Name: "s", N: 1, Text: long, ExitCode: &code, Cwd: home + "/" + strings.Repeat("d/", 40)}, {Name: "t", By: "agent:bot", Text: "x"}}, true, width, home)
		},
		"   N  STARTED": func(w io.Writer, width int) {
			commandTable(w, []api.Command{{Name: "s", N: 1, Text: long}}, false, width, home)
		},
		"WHERE": func(w io.Writer, width int) {
			writeHits(w, &api.Found{Hits: []api.Hit{{Name: "s", From: 7, Text: long}}}, width)
		},
		"   SEQ  TIME": func(w io.Writer, width int) {
			auditTable(w, auditColumns, []audit.Record{{Seq: 1, Kind: "line", Line: long, Rule: long, Verdict: "deny", Name: "s"}}, width)
		},
		"ID     STATE": func(w io.Writer, width int) {
			approvals.List(w, []api.Approval{{ID: "A1", State: "rejected", Line: long, Risk: "high", Name: "s"}}, false, width)
		},
	} {
		for _, width := range []int{80, 120, 0} {
			var b strings.Builder
			write(&b, width)
			lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
			if !strings.HasPrefix(lines[0], name) {
				t.Errorf("header of %s at %d: %q", name, width, lines[0])
			}
			for _, l := range lines {
				if width > 0 && uniseg.StringWidth(l) > width {
					t.Errorf("%s at %d: %q", name, width, l)
				}
			}
			if width == 0 && !strings.Contains(b.String(), long[:90]) {
				t.Errorf("%s is cut: %s", name, &b)
			}
		}
	}
	var b strings.Builder
	if writeHits(&b, &api.Found{}, 80); b.Len() > 0 {
		t.Errorf("of nothing: %q", b.String())
	}
}
