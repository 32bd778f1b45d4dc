//go:build unix

package main

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/approvals"
	"github.com/longterm-dev/longterm/cmd/internal/fleets"
	"github.com/longterm-dev/longterm/cmd/internal/projectrun"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/audit"
	"github.com/longterm-dev/longterm/session/listing"
	"github.com/rivo/uniseg"
)

// TestRegexpSigns checks that a text that looks like a regular expression is recognised, and ordinary texts are not.
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

// TestLists_FitTheTerminal checks that lists have a header. Their rows fit the terminal's width; without a terminal
// nothing is cut.
//
// FAULT: H19
func TestLists_FitTheTerminal(t *testing.T) {
	long := strings.Repeat("make all ", 30)
	code := 3
	home := "/home/me"
	for name, write := range map[string]func(w io.Writer, look listing.TableFormat){
		"ID        STATE": func(w io.Writer, look listing.TableFormat) {
			jobTable(w, jobColumns, []api.Job{{ID: "0123456789", State: "done", Name: "s", Line: long, Result: &api.Result{State: "exited", ExitCode: &code}}}, look)
		},
		"SESSION     N  STARTED": func(w io.Writer, look listing.TableFormat) {
			commandTable(w, []api.Command{{Name: "s", N: 1, Text: long, ExitCode: &code, Cwd: home + "/" + strings.Repeat("d/", 40)}, {Name: "t", By: "agent:bot", Text: "x"}}, true, look, home)
		},
		"   N  STARTED": func(w io.Writer, look listing.TableFormat) {
			commandTable(w, []api.Command{{Name: "s", N: 1, Text: long}}, false, look, home)
		},
		"WHERE": func(w io.Writer, look listing.TableFormat) {
			writeHits(w, &api.Found{Hits: []api.Hit{{Name: "s", From: 7, Text: long}}}, look)
		},
		"   SEQ  TIME": func(w io.Writer, look listing.TableFormat) {
			auditTable(w, auditColumns, []audit.Record{{Seq: 1, Kind: "line", Line: long, Rule: long, Verdict: "deny", Name: "s"}}, look)
		},
		"NAME  OF": func(w io.Writer, look listing.TableFormat) {
			writeSubscriptions(w, []api.Subscription{{Name: "s", Kinds: []string{"job", "session", "command"}, Hook: long, Cursor: 7, Newest: 9, Failed: 1}}, look)
		},
		"HOST  STATE": func(w io.Writer, look listing.TableFormat) {
			writeHosts(w, []hostRow{{Host: "h", State: "connected", Version: long, System: "linux/amd64", Name: "box"}}, look)
		},
		"NAME  LEVEL": func(w io.Writer, look listing.TableFormat) {
			writeTokens(w, []api.Token{{Name: "t", May: []string{"see"}, Agent: long}}, look)
		},
		"NAME  SESSION": func(w io.Writer, look listing.TableFormat) {
			writeStates(w, []projectrun.State{{Name: "web", SessionName: long, State: "running", Ready: true}}, look)
		},
		"HOST  STATE      RUNNING": func(w io.Writer, look listing.TableFormat) {
			fleets.WriteHosts(w, []api.FleetHost{{Host: "h", State: "connected", System: "linux", Labels: map[string]string{"a": long}}}, look)
		},
		"SESSION  STATE": func(w io.Writer, look listing.TableFormat) {
			fleets.WriteSessions(w, []api.FleetSession{{Host: "h", Name: "s你好", State: "running", Needs: "input", Command: long}}, look)
		},
		"ID     STATE": func(w io.Writer, look listing.TableFormat) {
			approvals.List(w, slices.Repeat([]api.Approval{{ID: "A1", State: "rejected", Line: long, Risk: "high", Name: "s"}}, 6), false, look)
		},
	} {
		for _, width := range []int{80, 120, 0} {
			var b strings.Builder
			write(&b, listing.TableFormat{Width: width})
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
	if writeHits(&b, &api.Found{}, listing.TableFormat{Width: 80}); b.Len() > 0 {
		t.Errorf("without hits: %q", b.String())
	}
}

// TestWriteHits_MarksMatches checks that in colour the matches are marked, the longest of several at one place.
func TestWriteHits_MarksMatches(t *testing.T) {
	var b strings.Builder
	found := api.Found{Hits: []api.Hit{{Name: "s", Text: "make all", Matches: [][2]int{{0, 4}, {0, 8}}}, {Name: "s", Text: "make", Matches: [][2]int{{0, 4}}}}}
	writeHits(&b, &found, listing.TableFormat{Colour: true})
	if got := b.String(); strings.Count(got, "\x1b[1;35mmake all\x1b[m") != 1 || strings.Count(got, "\x1b[1;35mmake\x1b[m") != 1 {
		t.Errorf("%q", got)
	}
}

// TestClientsAndDetails_FitTheTerminal checks that clients have a header on a terminal only, and details are wrapped
// there, and whole elsewhere.
//
// FAULT: H19
func TestClientsAndDetails_FitTheTerminal(t *testing.T) {
	now := time.Unix(100, 0)
	list := []api.Attached{{N: 1, Kind: "terminal", May: "type", Cols: 80, Rows: 24, Typed: &now}}
	var b strings.Builder
	clientTable(&b, "work", list, now.Add(3*time.Second), listing.TableFormat{})
	if !strings.HasPrefix(b.String(), "1  terminal  ") || !strings.Contains(b.String(), "  types  80x24  typed 3.0s ago\n") {
		t.Errorf("%q", b.String())
	}
	b.Reset()
	clientTable(&b, "work", list, now, listing.TableFormat{Width: 80})
	if !strings.HasPrefix(b.String(), "N  KIND      OWNER") {
		t.Errorf("%q", b.String())
	}
	rows := [][2]string{{"id", "7"}, {"command", strings.Repeat("word ", 10)}}
	b.Reset()
	writeDetails(&b, rows, listing.TableFormat{})
	if want := "id       7\ncommand  " + strings.Repeat("word ", 10) + "\n"; b.String() != want {
		t.Errorf("%q", b.String())
	}
	b.Reset()
	writeDetails(&b, rows, listing.TableFormat{Width: 34, Colour: true})
	if want := "\x1b[2mid\x1b[m       7\n\x1b[2mcommand\x1b[m  word word word word word\n         word word word word word\n"; b.String() != want {
		t.Errorf("%q", b.String())
	}
}
