//go:build unix

package viewsource

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/identity"
)

// TestDetails checks that details have all facts of a session: changes of its environment and their commands, the
// evidence of a prompt, the rules in force and their matches, commands with their status, jobs, limits.
//
// FEATURES: R76
func TestDetails(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	one, two, code := "1", "2", 2
	memory, pids := int64(3<<20), int64(4)
	r := record{
		session: api.Session{
			ID: "id-of-it", Name: "s", State: "running", PID: 7, Command: "bash", Cwd: "/src", Cols: 80, Rows: 24, Size: "latest", Clients: 2,
			Started: now.Add(-time.Minute), Needs: &api.InputRequest{Kind: "password", Confidence: 90, Reason: "echo is off", Since: now.Add(-5 * time.Second)},
			Cgroup: &api.Cgroup{Memory: &memory, PIDs: &pids, Limits: &api.Limits{Memory: 8 << 20, PIDs: 10}},
			Labels: map[string]string{"team": "x", markLabel: "hidden"}, Shell: &api.Shell{Phase: "running", Command: "ssh\nx", Since: now},
			Refused: []api.Refused{{Argv: []string{"rm", "x"}, Why: "no"}},
		},
		commands: []api.Command{
			{N: 1, Text: "export A=1 B=1", State: "done", ExitCode: new(int), Env: map[string]*string{"A": &one, "B": &one}},
			{N: 2, Text: "export A=2; unset B\nfalse", State: "done", ExitCode: &code, Duration: 61_000, By: "exec", Env: map[string]*string{"A": &two, "B": nil}},
			{N: 3, Text: "ssh x", State: "running", Started: now.Add(-time.Second)},
		},
		rules: []api.RespondAttached{
			{ID: "1", Uses: 1, RespondRule: api.RespondRule{Text: "Go on?", Max: 3, Reply: []api.RespondReply{{Kind: "text", Value: "y"}, {Kind: "keys", Value: "<Enter>"}}}},
			{ID: "2", Failed: "no such secret", RespondRule: api.RespondRule{Name: "sudo", Regexp: "^pass", Reply: []api.RespondReply{{Kind: "secret", Value: "env:P"}}}},
		},
		firings: []api.RespondFiring{
			{Time: now.Add(-time.Hour), Rule: "1", Match: "Go on?", Reply: []api.RespondReply{{Kind: "text", Value: "y"}}},
			{Time: now, Rule: "2", Name: "sudo", Match: "password", Error: "no such secret"},
		},
		jobs: []api.Job{{ID: "J1", Line: "make", State: "running", Started: now.Add(-2 * time.Second)}, {ID: "J2", Line: "old", State: "done"}},
		clients: []api.Attached{
			{N: 1, Kind: "terminal", Terminal: "pts/3", May: "type", Typed: &now},
			{N: 4, Kind: "viewer", By: identity.Actor{PID: 9}, May: "look"},
			{N: 5, Kind: "page", By: identity.Actor{Token: "ann"}, May: "look", OwnChoice: true},
		},
		approvals: []api.Approval{{ID: "A1", State: "pending", Session: "id-of-it", Line: "git push", Asked: now}},
	}
	var got []string
	leads := map[string]model.DetailAction{}
	for _, d := range r.details(now) {
		text := strings.TrimRight(fmt.Sprintf("%s|%s|%s", d.Group, d.Text, d.Note), "|")
		got = append(got, text)
		leads[text] = d.Action
	}
	want := []string{
		"state|needs password|0s", "program|bash|pid 7", "directory|/src", "runs|ssh …|0s ago",
		"waits for|password: echo is off|90% sure, 5s ago", "approval|A1  git push|asked by uid 0 0s ago",
		"environment|A=2|by export A=2; unset B …", "environment|unset B|by export A=2; unset B …",
		`rule|"Go on?": types "y", presses <Enter>|used 1 of 3 times`, "rule|sudo  /^pass/: types the secret env:P|failed: no such secret",
		`answered|sudo  "password": no such secret|0s ago`, `answered|1  "Go on?": types "y"|1h00m ago`,
		"commands|ssh x|running 1s ago", "commands|export A=2; unset B …|by exec  exit 2  1m01s", "commands|export A=1 B=1|exit 0  0s",
		"job|make|running 2s ago", "limits|memory 3.0 MiB of 8.0 MiB, processes 4 of 10", "refused|rm x|no",
		"clients|terminal pts/3|typed 0s ago", "clients|viewer pid 9|view-only", "clients|page token ann|view-only", "size|80×24|of the latest", "label|team=x", "output|bytes 0 to 0", "id|id-of-it",
	}
	for i := range got {
		got[i] = strings.Replace(got[i], "asked by you", "asked by uid 0", 1)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\n\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for text, lead := range map[string]model.DetailAction{
		want[1]: {Copy: "bash"}, want[4]: {Answer: true, Copy: "echo is off"}, want[8]: {Rule: "1"}, want[13]: {Command: 2}, want[15]: {Job: "J1"}, want[18]: {Client: 1}, want[19]: {Client: 4, Types: true},
		want[20]: {Copy: "token ann"}, want[21]: {Size: true},
	} {
		if leads[text] != lead {
			t.Errorf("%s leads to %+v; want %+v", text, leads[text], lead)
		}
	}
}

func TestFarewell(t *testing.T) {
	three := 3
	list := []api.Session{{ID: "1", Name: "a", State: "running"}, {ID: "2", Name: "b", State: "exited", ExitCode: &three}, {ID: "h/3", Name: "h/c", State: "running"}}
	for want, only := range map[string][]string{
		"[a keeps running; return with `longterm view a`]":             {"1"},
		"[b has ended: exited with 3]":                                 {"2"},
		"[the session no longer exists; see `longterm ls`]":            {"4"},
		"[2 sessions keep running; return with `longterm view a h/c`]": {"1", "2", "h/3", "4"},
		"[all 2 sessions have ended]":                                  {"2", "4"},
	} {
		if got := farewellTo(list, only, "longterm"); got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
	if got := farewellTo(list, []string{"1"}, "longterm view -H x"); got != "[a keeps running; return with `longterm view -H x a`]" {
		t.Error(got)
	}
	run, ended := api.Session{State: "running"}, api.Session{State: "exited"}
	for want, list := range map[string][]api.Session{
		"[no session is running; start one with `longterm`]":                              {ended},
		"[1 session keeps running; return with `longterm`, list it with `longterm ls`]":   {run, ended},
		"[2 sessions keep running; return with `longterm`, list them with `longterm ls`]": {run, ended, run},
	} {
		if got := farewell(list, "longterm"); got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
}

// TestCommandGlance checks that an ended command is shown with its failure or last output, not with the prompt after it.
//
// FEATURES: R76
func TestCommandGlance(t *testing.T) {
	for _, c := range []struct{ command, output, want string }{
		{"make test", "ok\n--- FAIL: TestX\n\n", "make test: --- FAIL: TestX"},
		{"false", "", "false"},
		{"for i in 1 2\ndo echo $i\ndone", "1\n2\n", "for i in 1 2 …: 2"},
		{"true", strings.Repeat("\n", 2*glanceRows), "true"},
	} {
		if got := commandGlance(c.command, c.output); got != c.want {
			t.Errorf("%q: %q; want %q", c.command, got, c.want)
		}
	}
}
