//go:build unix

package daemon

import (
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// TestRequestID_RejectedForDifferentCall checks that the id of one call is rejected for a different call, without
// executing any of it. The same call with another way of waiting is the same call, under this daemon and the next.
//
// FEATURES: R2 R88
func TestRequestID_RejectedForDifferentCall(t *testing.T) {
	t.Parallel()
	r, dir := serve(t), t.TempDir()
	for _, name := range []string{"one", "two"} {
		get[api.Session](r, "POST", "/sessions", api.NewSession{Name: name, Argv: []string{"bash", "--norc"}, Cwd: dir})
	}
	zero := int64(0)
	line := func(text string) api.Exec { return api.Exec{Call: api.Call{Job: "line-1"}, Line: text} }
	run := func(argv ...string) api.Run {
		return api.Run{Call: api.Call{Job: "run-1"}, NewSession: api.NewSession{Argv: argv, Cwd: dir}}
	}
	get[api.Result](r, "POST", "/sessions/one/exec", line("echo first"))
	get[api.Result](r, "POST", "/run", run("echo", "first"))
	get[api.Typed](r, "POST", "/sessions/one/input", api.Input{Text: "# typed", Enter: true, ID: "typed-1"})
	elsewhere := run("echo", "first")
	elsewhere.Cwd = "/"
	foreign := run("echo", "first")
	foreign.Job = "line-1"
	refused := func(when string) {
		t.Helper()
		for what, c := range map[string]struct {
			path string
			body any
		}{
			"another line":        {"/sessions/one/exec", line("echo second")},
			"another session":     {"/sessions/two/exec", line("echo first")},
			"a line as a command": {"/run", foreign},
			"another command":     {"/run", run("echo", "second")},
			"another directory":   {"/run", elsewhere},
			"a command as a line": {"/sessions/one/exec", api.Exec{Call: api.Call{Job: "run-1"}, Line: "echo first"}},
			"another line of rules": {"/sessions/one/exec", api.Exec{Call: api.Call{Job: "line-1"}, Line: "echo first", Respond: &api.RespondRules{
				Rules: []api.RespondRule{{Name: "r", Text: "x", Reply: []api.RespondReply{{Kind: "text", Value: "y"}}}},
			}}},
		} {
			if e := r.refused("POST", c.path, c.body); e.Code != api.CodeIDTaken || e.Hint == "" {
				t.Errorf("%s, %s: %+v", when, what, e)
			}
		}
		again := line("echo first")
		again.TimeoutMS, again.MaxOutput, again.Wait = &zero, 100, true
		if res := get[api.Result](r, "POST", "/sessions/one/exec", again); exitOf(&res) != "exited 0" || res.Output != "first\n" {
			t.Errorf("%s: the line again: %+v", when, res)
		}
		once := run("echo", "first")
		once.Cols, once.Env = 200, []string{"PATH=/usr/bin:/bin", "X=1"}
		if res := get[api.Result](r, "POST", "/run", once); exitOf(&res) != "exited 0" {
			t.Errorf("%s: the command again: %+v", when, res)
		}
	}
	refused("at once")
	if e := r.refused("POST", "/sessions/one/input", api.Input{Text: "# other", Enter: true, ID: "typed-1"}); e.Code != api.CodeIDTaken {
		t.Errorf("other input: %+v", e)
	}
	get[api.Typed](r, "POST", "/sessions/one/input", api.Input{Text: "# typed", Enter: true, ID: "typed-1"})
	r.again()
	refused("under the daemon after")
}
