//go:build unix

package jobs

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/authorize"
	"github.com/longterm-dev/longterm/session/daemon/liveconfig"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/store"
)

// withSettings returns jobs whose configuration is read from a file.
func withSettings(t *testing.T) *Set {
	t.Helper()
	s := testJobs(t)
	dir := t.TempDir()
	s.conf = liveconfig.Open(paths.Dirs{State: filepath.Join(dir, "s"), Config: filepath.Join(dir, "c")}, slog.New(slog.DiscardHandler))
	return s
}

func ms(n int64) *int64 { return &n }

// TestClocks_DefaultsOnlyForAgents checks that only agents have default limits. Any positive duration is accepted, and
// 0 is no limit.
//
// FEATURES: R16
// FAULT: G10
func TestClocks_DefaultsOnlyForAgents(t *testing.T) {
	s := withSettings(t)
	conf := s.conf.Get().Exec
	day := agentBackgroundLimit
	for _, c := range []struct {
		name    string
		actor   identity.Actor
		call    api.Call
		kill    bool
		want    timeouts
		refused string
	}{
		{"a user's line", person, api.Call{}, false, timeouts{}, ""},
		{"a script's command", person, api.Call{}, true, timeouts{kill: true}, ""},
		{"a user's in the background", person, api.Call{Background: true}, true, timeouts{kill: true}, ""},
		{"a user's that yields", person, api.Call{YieldMS: 1}, true, timeouts{kill: true}, ""},
		{"a user's that asks", person, api.Call{TimeoutMS: ms(7_200_000), IdleTimeoutMS: ms(7)}, true, timeouts{2 * time.Hour, 7 * time.Millisecond, true, 0}, ""},
		{"an agent's line", agent, api.Call{}, false, timeouts{conf.Timeout, conf.IdleTimeout, false, day}, ""},
		{"an agent's command", agent, api.Call{}, true, timeouts{conf.Timeout, conf.IdleTimeout, true, day}, ""},
		{"its own", agent, api.Call{TimeoutMS: ms(5000), IdleTimeoutMS: ms(7)}, true, timeouts{5 * time.Second, 7 * time.Millisecond, true, day}, ""},
		{"no limit", agent, api.Call{TimeoutMS: ms(0), IdleTimeoutMS: ms(0)}, true, timeouts{0, 0, true, day}, ""},
		{"a line that is killed", agent, api.Call{OnTimeout: "kill"}, false, timeouts{conf.Timeout, conf.IdleTimeout, true, day}, ""},
		{"a command that continues", agent, api.Call{OnTimeout: "background"}, true, timeouts{conf.Timeout, conf.IdleTimeout, false, day}, ""},
		{"in the background", agent, api.Call{Background: true}, true, timeouts{day, 0, true, day}, ""},
		{"that yields", agent, api.Call{YieldMS: 1}, true, timeouts{day, 0, true, day}, ""},
		{"in the background for days", agent, api.Call{Background: true, TimeoutMS: ms(200_000_000)}, true, timeouts{200_000 * time.Second, 0, true, day}, ""},
		{"short", person, api.Call{TimeoutMS: ms(1)}, true, timeouts{wall: time.Millisecond, kill: true}, ""},
		{"long", agent, api.Call{TimeoutMS: ms(3_600_000)}, true, timeouts{time.Hour, conf.IdleTimeout, true, day}, ""},
		{"below nothing", person, api.Call{TimeoutMS: ms(-1)}, true, timeouts{}, "timeout -1ms"},
		{"idle below nothing", agent, api.Call{IdleTimeoutMS: ms(-1)}, true, timeouts{}, "idle timeout"},
	} {
		got, err := s.timeoutsOf(c.actor, &c.call, c.kill)
		if c.refused == "" {
			if err != nil || got != c.want {
				t.Errorf("%s: %+v, %v; want %+v", c.name, got, err, c.want)
			}
			continue
		}
		var e *api.Error
		if !errors.As(err, &e) || e.Code != api.CodeInvalid || !strings.HasPrefix(e.Message, c.refused) || e.Hint == "" {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestDefaultBudget_OnlyForAgents checks that a user's answer has all output; an agent's, and a digest, have the
// configured limits.
//
// FAULT: G10
func TestDefaultBudget_OnlyForAgents(t *testing.T) {
	s := withSettings(t)
	of := func(a identity.Actor, c api.Call) int {
		return (&Job{s: s, call: c, e: registry.NewHandle(store.Session{ID: "s"}), approval: approval{request: authorize.Request{Actor: a}}}).limits(0).Bytes
	}
	conf := int(s.conf.Get().Exec.MaxOutput)
	for i, c := range []struct{ got, want int }{
		{of(person, api.Call{}), maxBudget}, {of(agent, api.Call{}), conf}, {of(person, api.Call{Digest: true}), conf}, {of(person, api.Call{MaxOutput: 7}), 7},
	} {
		if c.got != c.want {
			t.Errorf("%d: %d bytes, want %d", i, c.got, c.want)
		}
	}
	ended := s.endedJob(&store.Job{Request: []byte(`{"max_line":5,"actor":{"uid":1,"agent":"a"}}`)}, registry.NewHandle(store.Session{ID: "s"}))
	if l := ended.limits(0); l.Bytes != conf || l.Line != 5 || !l.Hide {
		t.Errorf("a job that has ended: %+v", l)
	}
}

// TestGrace_ByCaller checks that people and scripts get the configured grace, agents a shorter one.
//
// FEATURES: R15
// FAULT: G11
func TestGrace_ByCaller(t *testing.T) {
	s := withSettings(t)
	for a, want := range map[identity.Actor]time.Duration{person: 10 * time.Second, agent: 2 * time.Second} {
		if got := (&Job{s: s, approval: approval{request: authorize.Request{Actor: a}}}).grace(); got != want {
			t.Errorf("%v: %v, want %v", a, got, want)
		}
	}
}

// TestMessages checks that each outcome of a job has a line for users; exit status 0 prints nothing.
//
// FEATURES: R2
func TestMessages(t *testing.T) {
	s := withSettings(t)
	zero, three := 0, 3
	for want, c := range map[string]struct {
		r   api.Result
		how endReason
	}{
		"":                                      {api.Result{State: "exited", ExitCode: &zero}, 0},
		"Failed with exit code 3":               {api.Result{State: "exited", ExitCode: &three}, 0},
		"Its exit code is not known":            {api.Result{State: "exited"}, 0},
		"Ended by signal KILL":                  {api.Result{State: "signalled", Signal: "KILL"}, 0},
		"Ended by request":                      {api.Result{State: "killed"}, endsByRequest},
		"Ended by a rule: no":                   {api.Result{State: "killed", Error: "no"}, endsByRule},
		"Ended: its caller went away":           {api.Result{State: "killed", Aborted: true}, endsByCaller},
		"Its shell has ended":                   {api.Result{State: "ended"}, 0},
		"Its shell was ended by signal KILL":    {api.Result{State: "ended", Signal: "KILL"}, 0},
		"Its end was not seen":                  {api.Result{State: "lost"}, 0},
		"Its end was not seen: why":             {api.Result{State: "lost", Error: "its end was not seen: why"}, 0},
		"Runs":                                  {api.Result{State: "running"}, 0},
		"Runs in the background":                {api.Result{State: "running", InBackground: true}, 0},
		"Waits for input (password)":            {api.Result{State: "needs_input", Needs: "password"}, 0},
		"Waits for the shell's prompt":          {api.Result{State: "waiting"}, 0},
		"Killed by timeout (1.5s)":              {api.Result{State: "killed", TimedOut: "wall"}, endsByTimeout},
		"Killed by timeout (2s without output)": {api.Result{State: "killed", TimedOut: "idle"}, endsByTimeout},
		"Still running after 1.5s; it goes on in the background": {api.Result{State: "running", TimedOut: "wall"}, 0},
		"Not started: the shell reported no prompt":              {api.Result{State: "waiting", TimedOut: "wall"}, 0},
	} {
		if c.r.TimedOut == "" {
			c.r.TimedOut = "none"
		}
		j := &Job{s: s, outcome: outcome{ending: c.how}, command: true, timing: timing{expiredAfter: 1500 * time.Millisecond}}
		if c.r.TimedOut == "idle" {
			j.timing.expiredAfter = 2 * time.Second
		}
		if got := j.message(&c.r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestIsWorthKeeping checks that the output of a command is kept if it failed, or was long.
//
// FAULT: G14
func TestIsWorthKeeping(t *testing.T) {
	zero, three := 0, 3
	for i, c := range []struct {
		r    api.Result
		want bool
	}{
		{api.Result{State: "exited", ExitCode: &zero}, false}, {api.Result{State: "exited", ExitCode: &three}, true},
		{api.Result{State: "signalled", Signal: "KILL"}, true}, {api.Result{State: "killed", ExitCode: &zero}, true}, {api.Result{State: "lost"}, true},
		{api.Result{State: "exited", ExitCode: &zero, DurationMS: 10_000}, true},
		{api.Result{State: "exited", ExitCode: &zero, Range: api.Range{Start: 5, End: 5 + longOutput}}, true},
	} {
		if got := isWorthKeeping(&c.r); got != c.want {
			t.Errorf("%d: %+v: %v", i, c.r, got)
		}
	}
}

// TestApprovalTimer checks that a caller waits for each approval up to its limit, and without limit if it sets none.
//
// FAULT: J
func TestApprovalTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := approvalTimer{how: &api.ApprovalOptions{ApprovalTimeoutMS: 5000}}
		defer p.stop()
		began := time.Now()
		for i, id := range []string{"A1", "A1", "A2"} {
			if i == 1 {
				time.Sleep(2 * time.Second)
			}
			c := p.wait(&api.Approval{ID: id})
			if i == 0 {
				continue
			}
			<-c
			if want := time.Duration(i) * 5 * time.Second; time.Since(began) != want {
				t.Errorf("%s: after %v, want %v", id, time.Since(began), want)
			}
		}
		if p.wait(nil) != nil || (&approvalTimer{}).wait(&api.Approval{ID: "A1"}) != nil || (&approvalTimer{how: &api.ApprovalOptions{}}).wait(&api.Approval{ID: "A1"}) != nil {
			t.Error("a limit that is not given")
		}
		var e *api.Error
		if err := p.timeoutErr(&api.Approval{ID: "A2"}); !errors.As(err, &e) || e.Code != api.CodeNeedsApproval || e.Approval != "A2" || !strings.Contains(e.Message, "within 5s") {
			t.Errorf("%v", err)
		}
	})
}

// made returns a job that was recorded and not started.
func made(t *testing.T, s *Set, id string) *Job {
	t.Helper()
	j, err := s.newJob(registry.NewHandle(store.Session{ID: "session", Name: "n"}), api.Call{Job: id}, timeouts{}, "line "+id, lineRecord{})
	if err == nil {
		err = s.record(t.Context(), j, triggerRecorded)
	}
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// TestJobsAreFoundByID checks that a job is found by its id or a prefix of it once it was started. Its id is taken
// before that.
func TestJobsAreFoundByID(t *testing.T) {
	s := withSettings(t)
	if err := s.store.CreateSession(t.Context(), store.Session{ID: "session", Name: "n"}); err != nil {
		t.Fatal(err)
	}
	a, b := made(t, s, "job-a"), made(t, s, "job-b")
	if s.byID("job-a") != nil {
		t.Error("one that was not started is found")
	}
	a.move(triggerSubmitted, nil)
	b.move(triggerSubmitted, nil)
	for ref, want := range map[string]*Job{"job-a": a, "job-b": b, "job-": nil, "": nil, "none": nil} {
		if got := s.byID(ref); got != want {
			t.Errorf("%q: %v", ref, got)
		}
	}
	if err := s.record(t.Context(), &Job{s: s, e: a.e, id: "job-a"}, triggerRecorded); !errors.Is(err, store.ErrJobExists) {
		t.Errorf("an id is accepted twice: %v", err)
	}
	for ref, code := range map[string]api.Code{"none": api.CodeNotFound, "job-": api.CodeAmbiguous, "": api.CodeAmbiguous} {
		_, err := s.jobRecord(t.Context(), ref)
		var e *api.Error
		if !errors.As(err, &e) || e.Code != code {
			t.Errorf("%q: %v, want %s", ref, err, code)
		}
	}
	if !s.exists(t.Context(), "job-a") || s.exists(t.Context(), "none") {
		t.Error("an existing job is not found")
	}
	list, err := s.List(t.Context(), store.JobQuery{Limit: 10})
	if err != nil || len(list) != 2 || list[0].ID != "job-a" || list[0].State != store.JobWaiting {
		t.Errorf("%+v, %v", list, err)
	}
	c := made(t, s, "job-c")
	s.drop(c)
	if s.exists(t.Context(), "job-c") || c.current() != stateDropped {
		t.Error("one that was dropped is still there")
	}
}

// TestJobsAreBounded checks that the number of unfinished jobs is bounded, and a daemon that ends accepts none.
func TestJobsAreBounded(t *testing.T) {
	s := withSettings(t)
	for len(s.live) < maxJobs {
		s.live[strings.Repeat("x", len(s.live)+1)] = &Job{}
	}
	e := registry.NewHandle(store.Session{ID: "session"})
	var refused *api.Error
	if err := s.record(t.Context(), &Job{s: s, e: e, id: "one more"}, triggerRecorded); !errors.As(err, &refused) || refused.Code != api.CodeLimit {
		t.Errorf("%v", err)
	}
	s.Close()
	if err := s.record(t.Context(), &Job{s: s, e: e, id: "late"}, triggerRecorded); !errors.As(err, &refused) || refused.Code != api.CodeUnavailable || !refused.Retry {
		t.Errorf("while the daemon leaves: %v", err)
	}
	if !s.IsStopping() {
		t.Error("it does not leave")
	}
	s.runAsync(func() { t.Error("a job was started") })
}

// TestJobsWithoutAStore checks that a store that fails loses no job: it runs without a record.
func TestJobsWithoutAStore(t *testing.T) {
	s := withSettings(t)
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	j, err := s.newJob(registry.NewHandle(store.Session{ID: "session"}), api.Call{Job: "x"}, timeouts{}, "line", lineRecord{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.record(t.Context(), j, triggerRecorded); err != nil || s.live["x"] != j {
		t.Errorf("%v", err)
	}
	j.save() // is logged
	if _, err := s.Get(t.Context(), "y", ReadOptions{}); err == nil {
		t.Error("an unknown job is described")
	}
}

// TestTheFirstEndCounts checks that the first reported end counts, in any order of start and end.
func TestTheFirstEndCounts(t *testing.T) {
	s := withSettings(t)
	code := 3
	begun, ended := session.Command{Running: true}, session.Command{}
	begun.Number, ended.Number, ended.Exit = 4, 4, &code

	j := jobIn(t, s, "a", stateQueued)
	j.onCommand(&begun, nil)
	if j.state != stateRunning {
		t.Errorf("its state has no start or end: %s", j.state)
	}
	j.onCommand(&ended, nil)
	j.fail(errors.New("late"))
	j.onCommand(&session.Command{}, errors.New("later"))
	if o := &j.outcome; j.state != stateEnded || o.err != nil || *o.final.Exit != 3 || o.started.Number != 4 {
		t.Errorf("%s, %v, %+v", j.state, o.err, o.final)
	}

	j = jobIn(t, s, "b", stateQueued)
	j.fail(session.ErrEnded)
	j.onCommand(&ended, nil)
	if o := &j.outcome; j.state != stateEnded || !errors.Is(o.err, session.ErrEnded) || o.final.Exit != nil {
		t.Errorf("%s, %v, %+v", j.state, o.err, o.final)
	}

	j.setEnding(endsByTimeout)
	j.setEnding(endsByCaller)
	if j.endingReason() != endsByTimeout {
		t.Error("the last reason counts")
	}
}

// TestRecordsLeaveOutput checks that the answer has the effects of a call; the record of a result omits the output.
func TestRecordsLeaveOutput(t *testing.T) {
	s := withSettings(t)
	j := jobIn(t, s, "x", stateEnded)
	out := "secret"
	res := &api.Result{State: "exited", Output: out, Stdout: &out, Stderr: &out}
	j.move(triggerFinished, func() { j.outcome.result, j.outcome.at = res, time.Now() })
	r := j.row()
	if r.State != store.JobDone || r.Kind != store.JobLine || strings.Contains(string(r.Result), out) || r.Ended.IsZero() {
		t.Errorf("%+v", r)
	}
	short := withoutOutput(res)
	if !short.Truncated || short.Output != "" || short.Stdout != nil || res.Output != out || withoutOutput(nil) != nil {
		t.Errorf("%+v", short)
	}
	if _, err := resultOf(&store.Job{ID: "x", Result: []byte("{")}); err == nil {
		t.Error("a torn result is read")
	}
	for req, keeps := range map[string]bool{`{"keep":true}`: true, `{}`: false, `{`: true} {
		if keepsSession(&store.Job{Request: []byte(req)}) != keeps {
			t.Errorf("%s", req)
		}
	}
}

// TestRelease checks that a foreground job continues in the background, with the timeouts of the background, and its
// record carries that to the next daemon.
//
// FEATURES: R16
func TestRelease(t *testing.T) {
	s := withSettings(t)
	timeout := int64(5000)
	j, err := s.newJob(registry.NewHandle(store.Session{ID: "session"}), api.Call{Job: "x", TimeoutMS: &timeout}, timeouts{wall: 5 * time.Second, idle: time.Second, background: time.Hour}, "line",
		lineRecord{Exec: api.Exec{Call: api.Call{TimeoutMS: &timeout, IdleTimeoutMS: &timeout}, Line: "line"}})
	if err != nil {
		t.Fatal(err)
	}
	j.detach()
	j.detach() // once
	if !j.released || j.timeouts != (timeouts{wall: time.Hour, kill: true, background: time.Hour}) {
		t.Errorf("%+v", j.timeouts)
	}
	if req := string(j.request); strings.Contains(req, "timeout_ms") || !strings.Contains(req, `"background":true`) || !strings.Contains(req, `"line":"line"`) {
		t.Errorf("%s", req)
	}
}

// TestWithoutEcho checks that a silent program returns the echo of the line and its prompt too: neither is output.
//
// FAULT: H3
func TestWithoutEcho(t *testing.T) {
	for _, c := range []struct{ out, line, prompt, want string }{
		{"print(1)\n1\n>>> ", "print(1)", ">>> ", "1\n"},
		{">>> print(1)\n1\n>>> ", "print(1)", ">>> ", "1\n"},
		{"a\nb\nout\n", "a\nb", "", "out\n"},
		{"other\n", "line", "", "other\n"},
		{"line", "line", "$ ", ""},
		{"select\n3,\n4;      select\n3,\n4;\n3|4\n", "select\n3,\n4;", "", "3|4\n"}, // echoed twice
		{"print('日本日 本日')\n日\n", "print('日本日本日')", "", "日\n"},                        // wrapped
		{"line\nno prompt", "line", "$ ", "no prompt"},
	} {
		if got := withoutEcho(c.out, c.line, c.prompt); got != c.want {
			t.Errorf("%q after %q: %q, want %q", c.out, c.line, got, c.want)
		}
	}
}

// TestAfterAnswerWithoutARequest checks that work after an answer is done once the answer was written, and not before.
func TestAfterAnswerWithoutARequest(t *testing.T) {
	afterAnswer(context.Background(), func() { t.Error("ran without an answer") })
}

// TestPoolKeys checks that warm shells are for callers with the same directory and environment, except for variables
// without effect.
func TestPoolKeys(t *testing.T) {
	base := api.NewSession{Cwd: "/", Env: []string{"A=1", "B=2"}}
	same := api.NewSession{Cwd: "/", Env: []string{"B=2", "SHLVL=3", "A=1", "PWD=/x"}}
	if poolKey(&base, "") != poolKey(&same, "") {
		t.Error("the order or an irrelevant variable counts")
	}
	for name, n := range map[string]api.NewSession{
		"directory": {Cwd: "/tmp", Env: base.Env}, "value": {Cwd: "/", Env: []string{"A=1", "B=3"}},
		"addition": {Cwd: "/", Env: base.Env, SetEnv: []string{"C=1"}}, "mask": {Cwd: "/", Env: base.Env, Umask: "077"},
		"mode": {Cwd: "/", Env: base.Env, EnvMode: "minimal"}, "passed variable": {Cwd: "/", Env: base.Env, EnvPass: []string{"C=1"}},
	} {
		if poolKey(&n, "") == poolKey(&base, "") || poolKey(&base, "") == poolKey(&base, "agent") {
			t.Errorf("the %s does not count", name)
		}
	}
}
