//go:build unix

package daemon

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// TestAgentsLabelTheirOwnOnly checks that an agent may do to its own session what it may not do to a user's or another
// agent's.
//
// FEATURES: R123
func TestAgentsLabelTheirOwnOnly(t *testing.T) {
	t.Parallel()
	r := startDaemon(t, testDirs(t))
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "person", Argv: []string{"cat"}, Labels: map[string]string{api.RestartLabel: "always"}})
	bot := r.as("bot")
	get[api.Session](bot, "POST", "/sessions", api.NewSession{Name: "bot", Argv: []string{"cat"}})
	for _, name := range []string{api.RestartLabel, api.ProjectLabel, api.ProjectFromLabel} {
		for _, value := range []string{"on-failure", ""} {
			edit := api.Edit{Labels: map[string]string{name: value}}
			changes := value != "" || name == api.RestartLabel
			if changes {
				if e := bot.refused("PATCH", "/sessions/person", edit); e.Code != api.CodeDenied || e.Hint == "" {
					t.Errorf("%s=%q: %+v", name, value, e)
				}
			}
			if s := get[api.Session](bot, "PATCH", "/sessions/bot", edit); s.Labels[name] != value {
				t.Errorf("its own session: %v", s.Labels)
			}
			if e := r.as("other").refused("PATCH", "/sessions/bot", api.Edit{Labels: map[string]string{name: "x"}}); e.Code != api.CodeDenied {
				t.Errorf("another's: %+v", e)
			}
		}
	}
	same := map[string]string{api.RestartLabel: "always", "mine": "1"}
	if s := get[api.Session](bot, "PATCH", "/sessions/person", api.Edit{Labels: same}); s.Labels["mine"] != "1" || s.Labels[api.RestartLabel] != "always" {
		t.Errorf("others: %v", s.Labels)
	}
	if s := get[api.Session](r, "PATCH", "/sessions/bot", api.Edit{Labels: same}); s.Labels[api.RestartLabel] != "always" {
		t.Errorf("a user: %v", s.Labels)
	}
}

// TestAgentsAskToEndOthersSessions checks that an agent ends and forgets sessions of others only if a user has allowed
// it, and its own without approval.
//
// FEATURES: R63
func TestAgentsAskToEndOthersSessions(t *testing.T) {
	t.Parallel()
	r := startDaemon(t, testDirs(t))
	bot, events := r.as("bot"), r.events(t)
	for _, name := range []string{"p1", "p2", "p3"} {
		get[api.Session](r, "POST", "/sessions", api.NewSession{Name: name, Argv: []string{"cat"}})
	}
	get[api.Session](bot, "POST", "/sessions", api.NewSession{Name: "own", Argv: []string{"cat"}})
	told := func(method, path string, body any, words, how string) answer {
		t.Helper()
		done := make(chan answer, 1)
		go func() { done <- bot.ask(method, path, body) }()
		v := asked(t, events)
		if v.Kind != "stop" || v.Path != words || v.Actor.Agent != "bot" || v.Risk != "high" {
			t.Errorf("%s: %s %q of %+v, risk %s; want %q", path, v.Kind, v.Path, v.Actor, v.Risk, words)
		}
		if s := get[api.Session](r, "GET", "/sessions/p1", nil); s.State != "running" {
			t.Fatalf("%s: %s before the answer", path, s.State)
		}
		r.answer(v.ID, how, "")
		return <-done
	}
	for _, q := range []struct {
		method, path string
		body         any
		words        string
	}{
		{"POST", "/sessions/p1/kill", api.Kill{}, "end session p1"},
		{"DELETE", "/sessions/p1?force=true", nil, "remove session p1"},
		{"POST", "/sessions/p1/signal", api.Signal{Signal: "SIGKILL", Scope: "all"}, "signal KILL to session p1"},
		{"POST", "/kill", api.KillSeveral{Sessions: []string{"p1", "own", "p2"}}, "end sessions p1, p2"},
		{"POST", "/kill", api.KillSeveral{All: true}, "end sessions p1, p2, p3"},
	} {
		if a := told(q.method, q.path, q.body, q.words, "reject"); a.status < 400 {
			t.Errorf("%s, rejected: %d %s", q.path, a.status, a.body)
		}
	}
	for _, name := range []string{"p1", "p2", "p3", "own"} {
		if s := get[api.Session](r, "GET", "/sessions/"+name, nil); s.State != "running" {
			t.Errorf("%s is %s after rejections", name, s.State)
		}
	}
	if a := told("POST", "/kill", api.KillSeveral{Sessions: []string{"p2", "own"}}, "end sessions p2", "once"); a.status >= 300 {
		t.Errorf("allowed: %d %s", a.status, a.body)
	}
	for _, q := range []struct {
		by           *running
		method, path string
		body         any
	}{
		{bot, "POST", "/sessions/p1/signal", api.Signal{Signal: "WINCH"}}, {bot, "POST", "/sessions/own/kill", api.Kill{}},
		{bot, "DELETE", "/sessions/own", nil}, {r, "POST", "/sessions/p1/kill", api.Kill{}}, {r, "DELETE", "/sessions/p1", nil},
	} {
		if a := q.by.ask(q.method, q.path, q.body); a.status >= 300 {
			t.Errorf("%s: %d %s", q.path, a.status, a.body)
		}
	}
}

// TestAgents_EndedSessionNeedsNoApproval checks that an ended session cannot be ended: an agent's request needs no
// approval, and gets the state.
//
// FEATURES: R63
func TestAgents_EndedSessionNeedsNoApproval(t *testing.T) {
	t.Parallel()
	r := startDaemon(t, testDirs(t))
	bot := r.as("bot")
	for _, name := range []string{"p1", "p2"} {
		get[api.Session](r, "POST", "/sessions", api.NewSession{Name: name, Argv: []string{"cat"}})
		get[api.Session](r, "POST", "/sessions/"+name+"/kill", api.Kill{})
	}
	get[api.Session](bot, "POST", "/sessions", api.NewSession{Name: "own", Argv: []string{"cat"}})
	if s := get[api.Session](bot, "POST", "/sessions/p1/kill", api.Kill{}); s.Name != "p1" || s.State == "running" {
		t.Errorf("%+v", s)
	}
	done := get[api.Killed](bot, "POST", "/kill", api.KillSeveral{Sessions: []string{"p1", "own", "p2"}})
	if len(done.Ended) != 3 || len(done.Failed) != 0 {
		t.Errorf("%+v", done)
	}
	if list := get[[]api.Approval](r, "GET", "/approvals?all=true", nil); len(list) != 0 {
		t.Errorf("approval request: %+v", list)
	}
}

// TestAgents_CannotDetachUsers checks that an agent cannot detach a user's terminals.
//
// FEATURES: R75
func TestAgents_CannotDetachUsers(t *testing.T) {
	t.Parallel()
	r := startDaemon(t, testDirs(t))
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "cat", Argv: []string{"cat"}})
	for _, more := range []string{"", "&read_only=true"} {
		if e := r.as("bot").refused("GET", "/sessions/cat/attach?cols=80&rows=24&detach_others=true"+more, nil); e.Code != api.CodeDenied || e.Hint == "" {
			t.Errorf("%s: %+v", more, e)
		}
	}
	if a := r.ask("GET", "/sessions/cat/attach?cols=80&rows=24&detach_others=true", nil); a.status != 422 {
		t.Errorf("a user without a stream: %d %s", a.status, a.body)
	}
}

// TestAgentsEndTheirOwnOnly checks that an agent ends all sessions only if all are its own.
//
// FEATURES: R61
func TestAgentsEndTheirOwnOnly(t *testing.T) {
	t.Parallel()
	r := startDaemon(t, testDirs(t))
	bot := r.as("bot")
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "person", Argv: []string{"cat"}})
	get[api.Session](bot, "POST", "/sessions", api.NewSession{Name: "bot", Argv: []string{"cat"}})
	if e := bot.refused("POST", "/stop", api.Stop{KillSessions: true}); e.Code != api.CodeDenied || e.Hint == "" || !strings.Contains(e.Message, "person") {
		t.Errorf("a user's: %+v", e)
	}
	if s := get[api.Session](r, "GET", "/sessions/person", nil); s.State != "running" {
		t.Errorf("%+v", s)
	}
	for _, q := range []struct {
		by           *running
		method, path string
		body         any
	}{{r, "DELETE", "/sessions/person?force=true", nil}, {bot, "POST", "/stop", api.Stop{KillSessions: true}}} {
		if a := q.by.ask(q.method, q.path, q.body); a.status >= 300 {
			t.Errorf("%s: %d %s", q.path, a.status, a.body)
		}
	}
	if err := <-r.ended; err != nil {
		t.Error(err)
	}
}
