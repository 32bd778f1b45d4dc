package daemon

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/confine"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// configured writes a file of the daemon's configuration.
func (r *running) configured(name, text string) {
	r.t.Helper()
	err := os.MkdirAll(r.dirs.Config, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(r.dirs.Config, name), []byte(text), 0o600)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// sessionFile returns the path of a file in a session's own directory.
func (r *running) sessionFile(session, name string) string {
	r.t.Helper()
	return filepath.Join(r.dirs.Session(get[api.Session](r, "GET", "/sessions/"+session, nil).ID), name)
}

const executionRules = `
[[rules]]
program = "touch"
decision = "deny"
reason = "nothing is touched"

[[rules]]
program = "date"
decision = "ask"
reason = "what time it is matters"
`

// TestExecutionsAreJudged checks that executions in agents' sessions, and in sessions with rules, are judged while they
// run: denied ones are refused and recorded, others wait for approval, also under the next daemon. A user's own
// sessions are not judged.
//
// FEATURES: R107 R63
func TestExecutionsAreJudged(t *testing.T) {
	t.Parallel()
	if err := confine.Probe(); err != nil {
		t.Skip(err)
	}
	r, dir := serve(t), t.TempDir()
	r.configured("policy.toml", executionRules)
	for name, text := range map[string]string{
		"trick": "read x; x=touch; $x made; [ -e made ] && echo THERE; true", "Makefile": "all:\n\t@date > asked.out; echo status $$?\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tier.Need(t, "make")
	trick := []string{"sh", "trick"}
	bot := r.as("bot")
	events := r.events(t)
	run := func(policy, job string) api.Result { // its session exists before it executes anything
		t.Helper()
		res := get[api.Result](r, "POST", "/run", api.Run{Call: api.Call{Job: job, Background: true}, NewSession: api.NewSession{Argv: trick, Cwd: dir, ApprovalOptions: api.ApprovalOptions{Yes: true, Policy: policy}}})
		get[api.Typed](r, "POST", "/sessions/"+res.Session+"/input", api.Input{Text: "go", Enter: true})
		return *r.job(job).Result
	}
	res := run("readonly", "trick")
	if res.Executions != api.ExecutionsJudged || len(res.Refused) == 0 || strings.Contains(res.Output, "THERE") || !strings.Contains(res.Refused[0].Why, "nothing is touched") {
		t.Errorf("with rules: %+v", res)
	}
	if e := until(t, events, "it is refused", func(e *api.Event) bool { return e.Kind == "refused" }); e.Refused == nil || e.Refused.Argv[0] != "touch" || e.Session == nil {
		t.Errorf("published: %+v", e)
	}
	res = run("", "own")
	if len(res.Refused) != 0 || !strings.Contains(res.Output, "THERE") {
		t.Errorf("a user's own session: %+v", res)
	}

	get[api.Session](bot, "POST", "/sessions", api.NewSession{Name: "asks", Argv: []string{"make"}, Cwd: dir})
	a := asked(t, events)
	if a.Kind != "execution" || a.Name != "asks" || a.Depth < 1 || len(a.Parent) == 0 || a.Actor.Agent != "bot" {
		t.Errorf("approval request: %+v", a)
	}
	r.again()
	again := get[[]api.Approval](r, "GET", "/approvals?session=asks", nil)
	if len(again) != 1 || again[0].ID != a.ID {
		t.Fatalf("under the next daemon: %+v", again)
	}
	if info, err := os.Stat(filepath.Join(dir, "asked.out")); err == nil && info.Size() > 0 {
		t.Error("it did not wait")
	}
	if s := get[api.Session](r, "GET", "/sessions/asks", nil); s.Executions != api.ExecutionsJudged || len(s.Approvals) != 1 {
		t.Errorf("under the next daemon: %q, %v", s.Executions, s.Approvals)
	}
	r.answer(a.ID, "once", "")
	for w := (api.Waited{}); w.Outcome != "fired"; { // the shell of make needs approval, and so do its executions
		w = get[api.Waited](r, "POST", "/sessions/asks/wait", api.Wait{TimeoutMS: 50, Conds: []api.Condition{{Kind: "exit"}}})
		for _, a := range get[[]api.Approval](r, "GET", "/approvals?session=asks", nil) {
			r.ask("POST", "/approvals/"+a.ID+"/answer", api.ApprovalAnswer{Answer: "once"})
		}
	}
	if out := get[api.OutputText](r, "GET", "/sessions/asks/output/text?max_output=1000", nil).Text; out != "status 0\n" {
		t.Errorf("allowed, it printed %q", out)
	}

	// A session killed during an approval closes it.
	events = r.events(t)
	get[api.Session](r.as("bot"), "POST", "/sessions", api.NewSession{Name: "killed", Argv: []string{"make"}, Cwd: dir})
	a = asked(t, events)
	get[api.Session](r, "POST", "/sessions/killed/kill", api.Kill{GraceMS: 50})
	if how := settled(t, events, a.ID); how != "approval-gone" {
		t.Errorf("its session was killed, and it is %s", how)
	}

	// A record that cannot be read does not pass for a judgement.
	get[api.Session](r.as("bot"), "POST", "/sessions", api.NewSession{Name: "damaged", Argv: []string{"cat"}})
	file := r.sessionFile("damaged", "executions.json")
	r.leave()
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	next := startDaemon(t, r.dirs)
	r.http, r.ended, r.cancel = next.http, next.ended, next.cancel
	if s := get[api.Session](r, "GET", "/sessions/damaged", nil); !strings.Contains(s.Executions, "not judged") || s.State != "running" {
		t.Errorf("its record is damaged: %q, %s", s.Executions, s.State)
	}
}

// TestSandboxedSessions checks that a restored session is in its sandbox again, even if the file of profiles changed.
// Nothing starts with an invalid profile or record. Unlisted hosts need approval or are refused.
//
// FEATURES: R67
func TestSandboxedSessions(t *testing.T) {
	t.Parallel()
	if confine.LandlockABI() == 0 && confine.ProbeNamespaces() != nil {
		t.Skip("no sandbox is available here")
	}
	r, dir := serve(t), t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside")
	start := func(name, profile string) answer {
		return r.ask("POST", "/sessions", api.NewSession{
			Name: name, Cwd: dir, Sandbox: profile,
			Argv: []string{"sh", "-c", "echo x > inside; echo x > " + outside + "; echo tried; read x; exit 4"},
		})
	}
	for _, c := range []struct{ file, profile, says string }{
		{"", "none", "workspace"},
		{"[web]\nextends = 7\n", "web", "sandbox.toml:2"},
		{"[web]\nwrite = [\"/does/not/exist\"]\n", "web", "/does/not/exist"},
		{"[web]\nlevel = \"perfect\"\n", "web", "level"},
		{"[web]\nextends = \"nobody\"\n", "web", "nobody"},
		{"[web\n", "web", "sandbox.toml:1"},
	} {
		r.configured("sandbox.toml", c.file)
		a := start("refused", c.profile)
		if a.status == http.StatusOK || !strings.Contains(string(a.body), c.says) || !strings.Contains(string(a.body), `"hint"`) {
			t.Errorf("%q of %q: %d %s, want %q", c.profile, c.file, a.status, a.body, c.says)
		}
	}
	if list := get[[]api.Session](r, "GET", "/sessions", nil); len(list) != 0 {
		t.Errorf("started nevertheless: %+v", list)
	}

	r.configured("sandbox.toml", "[web]\nextends = \"workspace\"\nnetwork = [\"listed.example\"]\non_difference = \"ask\"\n")
	for name, profile := range map[string]string{"boxed": "workspace", "web": "web"} {
		if a := start(name, profile); a.status != http.StatusOK {
			t.Fatalf("%s: %d %s", name, a.status, a.body)
		}
		get[api.Waited](r, "POST", "/sessions/"+name+"/wait", api.Wait{Since: new(uint64), Conds: []api.Condition{{Kind: "text", Text: "tried"}}})
	}
	s := get[api.Session](r, "GET", "/sessions/boxed", nil)
	if s.Sandbox == nil || s.Sandbox.Profile != "workspace" || s.Sandbox.Level == "" || s.Sandbox.Network != "off" {
		t.Fatalf("%+v", s.Sandbox)
	}
	if _, err := os.Stat(filepath.Join(dir, "inside")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("it wrote outside")
	}

	ask := func(session, host string) answer {
		return r.ask("POST", "/sessions/"+session+"/network", api.NetworkAsk{Host: host, Port: 443})
	}
	if a := ask("boxed", "example.org"); a.status != http.StatusForbidden {
		t.Errorf("a host of a sandbox without network: %d %s", a.status, a.body)
	}
	events := r.events(t)
	for how, want := range map[string]int{"once": http.StatusOK, "reject": http.StatusForbidden} {
		done := make(chan answer, 1)
		go func() { done <- ask("web", how+".example") }()
		a := asked(t, events)
		if a.Kind != "network" || !strings.Contains(a.Path, how+".example:443") {
			t.Errorf("approval request: %+v", a)
		}
		r.answer(a.ID, how, "")
		if got := <-done; got.status != want {
			t.Errorf("%s: %d %s", how, got.status, got.body)
		}
	}

	// Restored in the same sandbox, though its profile allows everything by now.
	r.configured("sandbox.toml", "")
	get[api.Session](r, "POST", "/sessions/boxed/kill", api.Kill{GraceMS: 50})
	get[api.Session](r, "POST", "/sessions/boxed/restore", api.Restore{Command: true})
	get[api.Waited](r, "POST", "/sessions/boxed/wait", api.Wait{Conds: []api.Condition{{Kind: "text", Text: "tried"}}})
	if s := get[api.Session](r, "GET", "/sessions/boxed", nil); s.Sandbox == nil || s.Sandbox.Profile != "workspace" {
		t.Errorf("restored: %+v", s.Sandbox)
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("restored, it wrote outside")
	}
	get[api.Session](r, "POST", "/sessions/web/kill", api.Kill{GraceMS: 50})
	if e := r.refused("POST", "/sessions/web/restore", api.Restore{Command: true}); !strings.Contains(e.Message, "web") || e.Hint == "" {
		t.Errorf("without its profile: %+v", e)
	}
	get[api.Session](r, "POST", "/sessions/boxed/kill", api.Kill{GraceMS: 50})
	if err := os.WriteFile(r.sessionFile("boxed", "sandbox.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if e := r.refused("POST", "/sessions/boxed/restore", api.Restore{Command: true}); e.Code != api.CodeStorage || !strings.Contains(e.Hint, "without its sandbox") {
		t.Errorf("with a damaged record of its sandbox: %+v", e)
	}

	// A line is not given to a shell that is in no such sandbox.
	bashSession(t, r, "plain", dir)
	if e := r.refused("POST", "/sessions/plain/exec", api.Exec{Line: "true", Sandbox: "workspace"}); e.Code != api.CodeInvalid || !strings.Contains(e.Message, "in no sandbox") {
		t.Errorf("%+v", e)
	}
	if e := r.refused("POST", "/sessions/plain/batch", api.Batch{Lines: []string{"true"}, Sandbox: "nobody"}); e.Code != api.CodeInvalid {
		t.Errorf("%+v", e)
	}
}

// TestSandboxedShell_EndsWithoutGrace checks that a sandboxed shell at its prompt, which ignores TERM, gets the hang-up
// at once: no step waits for the processes above it, which only forward signals. The same holds after the end of its
// keeper.
//
// FEATURES: R15 R67
func TestSandboxedShell_EndsWithoutGrace(t *testing.T) {
	t.Parallel()
	if err := confine.ProbeNamespaces(); err != nil {
		t.Skip(err)
	}
	bash := tier.Path(t, "bash")
	r, dir := serve(t), t.TempDir()
	r.configured("config.toml", "[exec]\ngrace = \"5m\"\n")
	r.again()
	start := func(name string) {
		get[api.Session](r, "POST", "/sessions", api.NewSession{Name: name, Argv: []string{bash, "--norc"}, Cwd: dir, Sandbox: "workspace"})
		r.wait(name, api.Condition{Kind: "prompt"})
		get[api.Result](r, "POST", "/sessions/"+name+"/exec", api.Exec{Line: "true"})
		r.wait(name, api.Condition{Kind: "prompt"}) // the result arrives before it
	}
	start("killed")
	s := get[api.Session](r, "POST", "/sessions/killed/kill", api.Kill{GraceMS: int(time.Hour / time.Millisecond)})
	if s.Signal != "SIGHUP" {
		t.Errorf("it ended by %+v", s)
	}
	start("left")
	events := r.events(t)
	for _, k := range get[api.Status](r, "GET", "/status", nil).Keepers {
		if k.Sessions > 0 {
			if err := syscall.Kill(k.PID, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	until(t, events, "it is lost", func(e *api.Event) bool {
		return e.Kind == "state" && e.Session != nil && e.Session.Name == "left" && e.Session.State == "lost"
	})
}
