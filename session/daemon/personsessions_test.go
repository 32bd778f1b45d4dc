//go:build unix

package daemon

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// What an agent may not do to a session of a person, or of another agent, it may to its own.
//
// FEATURES: R123
func TestAgentsLabelTheirOwnOnly(t *testing.T) {
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
				t.Errorf("its own: %v", s.Labels)
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
		t.Errorf("a person: %v", s.Labels)
	}
}

// An agent does not have a person's terminals leave.
//
// FEATURES: R75
func TestAgentsDetachNobody(t *testing.T) {
	r := startDaemon(t, testDirs(t))
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "cat", Argv: []string{"cat"}})
	for _, more := range []string{"", "&read_only=true"} {
		if e := r.as("bot").refused("GET", "/sessions/cat/attach?cols=80&rows=24&detach_others=true"+more, nil); e.Code != api.CodeDenied || e.Hint == "" {
			t.Errorf("%s: %+v", more, e)
		}
	}
	if a := r.ask("GET", "/sessions/cat/attach?cols=80&rows=24&detach_others=true", nil); a.status != 400 {
		t.Errorf("a person without a stream: %d %s", a.status, a.body)
	}
}

// An agent ends all sessions only where all are its own.
//
// FEATURES: R61
func TestAgentsEndTheirOwnOnly(t *testing.T) {
	r := startDaemon(t, testDirs(t))
	bot := r.as("bot")
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "person", Argv: []string{"cat"}})
	get[api.Session](bot, "POST", "/sessions", api.NewSession{Name: "bot", Argv: []string{"cat"}})
	if e := bot.refused("POST", "/stop", api.Stop{KillSessions: true}); e.Code != api.CodeDenied || e.Hint == "" || !strings.Contains(e.Message, "person") {
		t.Errorf("a person's: %+v", e)
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
