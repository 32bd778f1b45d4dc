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
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/gateway"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/daemon/settings"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/store"
)

// withSettings are jobs whose configuration is a file's.
func withSettings(t *testing.T) *Set {
	t.Helper()
	s := testJobs(t)
	dir := t.TempDir()
	s.conf = settings.Open(paths.Dirs{State: filepath.Join(dir, "s"), Config: filepath.Join(dir, "c")}, slog.New(slog.DiscardHandler))
	return s
}

func ms(n int64) *int64 { return &n }

// Only agents have limits that they do not give; any positive duration is accepted, and 0 is no limit.
//
// FEATURES: R16
// FAULT: G10
func TestClocks_DefaultsOnlyForAgents(t *testing.T) {
	s := withSettings(t)
	conf := s.conf.Get().Exec
	day := agentBackgroundLimit
	for _, c := range []struct {
		name    string
		actor   actor.Actor
		call    api.Call
		kill    bool
		want    clocks
		refused string
	}{
		{"a person's line", person, api.Call{}, false, clocks{}, ""},
		{"a script's command", person, api.Call{}, true, clocks{kill: true}, ""},
		{"a person's in the background", person, api.Call{Background: true}, true, clocks{kill: true}, ""},
		{"a person's that yields", person, api.Call{YieldMS: 1}, true, clocks{kill: true}, ""},
		{"a person's that asks", person, api.Call{TimeoutMS: ms(7_200_000), IdleTimeoutMS: ms(7)}, true, clocks{2 * time.Hour, 7 * time.Millisecond, true, 0}, ""},
		{"an agent's line", agent, api.Call{}, false, clocks{conf.Timeout, conf.IdleTimeout, false, day}, ""},
		{"an agent's command", agent, api.Call{}, true, clocks{conf.Timeout, conf.IdleTimeout, true, day}, ""},
		{"its own", agent, api.Call{TimeoutMS: ms(5000), IdleTimeoutMS: ms(7)}, true, clocks{5 * time.Second, 7 * time.Millisecond, true, day}, ""},
		{"no limit", agent, api.Call{TimeoutMS: ms(0), IdleTimeoutMS: ms(0)}, true, clocks{0, 0, true, day}, ""},
		{"a line that is killed", agent, api.Call{OnTimeout: "kill"}, false, clocks{conf.Timeout, conf.IdleTimeout, true, day}, ""},
		{"a command that continues", agent, api.Call{OnTimeout: "background"}, true, clocks{conf.Timeout, conf.IdleTimeout, false, day}, ""},
		{"in the background", agent, api.Call{Background: true}, true, clocks{day, 0, true, day}, ""},
		{"that yields", agent, api.Call{YieldMS: 1}, true, clocks{day, 0, true, day}, ""},
		{"in the background for days", agent, api.Call{Background: true, TimeoutMS: ms(200_000_000)}, true, clocks{200_000 * time.Second, 0, true, day}, ""},
		{"short", person, api.Call{TimeoutMS: ms(1)}, true, clocks{wall: time.Millisecond, kill: true}, ""},
		{"long", agent, api.Call{TimeoutMS: ms(3_600_000)}, true, clocks{time.Hour, conf.IdleTimeout, true, day}, ""},
		{"below nothing", person, api.Call{TimeoutMS: ms(-1)}, true, clocks{}, "timeout -1ms"},
		{"idle below nothing", agent, api.Call{IdleTimeoutMS: ms(-1)}, true, clocks{}, "idle timeout"},
	} {
		got, err := s.clocksOf(c.actor, &c.call, c.kill)
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

// A person's answer has all output; an agent's, and a digest, what the configuration says.
//
// FAULT: G10
func TestDefaultBudget_OnlyForAgents(t *testing.T) {
	s := withSettings(t)
	of := func(a actor.Actor, c api.Call) int {
		return (&Job{s: s, call: c, e: registry.NewHandle(store.Session{ID: "s"}), asking: gateway.Ask{Actor: a}}).limits(0).Bytes
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

// People and scripts get the configured grace, agents a shorter one.
//
// FEATURES: R15
// FAULT: G11
func TestGrace_ByCaller(t *testing.T) {
	s := withSettings(t)
	for a, want := range map[actor.Actor]time.Duration{person: 10 * time.Second, agent: 2 * time.Second} {
		if got := (&Job{s: s, asking: gateway.Ask{Actor: a}}).grace(); got != want {
			t.Errorf("%v: %v, want %v", a, got, want)
		}
	}
}

// Each way in which a job can go has a line for people; one that exited with 0 says nothing.
//
// FEATURES: R2
func TestMessages(t *testing.T) {
	s := withSettings(t)
	zero, three := 0, 3
	for want, c := range map[string]struct {
		r   api.Result
		how ending
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
		"Killed by timeout (1.5s)":              {api.Result{State: "killed", TimedOut: "wall"}, endsByClock},
		"Killed by timeout (2s without output)": {api.Result{State: "killed", TimedOut: "idle"}, endsByClock},
		"Still running after 1.5s; it goes on in the background": {api.Result{State: "running", TimedOut: "wall"}, 0},
		"Not started: the shell reported no prompt":              {api.Result{State: "waiting", TimedOut: "wall"}, 0},
	} {
		if c.r.TimedOut == "" {
			c.r.TimedOut = "none"
		}
		j := &Job{s: s, how: c.how, command: true, limit: 1500 * time.Millisecond}
		if c.r.TimedOut == "idle" {
			j.limit = 2 * time.Second
		}
		if got := j.message(&c.r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The output of a command is kept if it failed, or was long.
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

// A caller waits for each approval as long as it says, and without limit if it says nothing.
//
// FAULT: J
func TestApprovalTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := approvalTimer{how: &api.Asking{ApprovalTimeoutMS: 5000}}
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
		if p.wait(nil) != nil || (&approvalTimer{}).wait(&api.Approval{ID: "A1"}) != nil || (&approvalTimer{how: &api.Asking{}}).wait(&api.Approval{ID: "A1"}) != nil {
			t.Error("a limit that is not given")
		}
		var e *api.Error
		if err := p.timeoutErr(&api.Approval{ID: "A2"}); !errors.As(err, &e) || e.Code != api.CodeNeedsApproval || e.Approval != "A2" || !strings.Contains(e.Message, "within 5s") {
			t.Errorf("%v", err)
		}
	})
}

// made is a job that was recorded and not started.
func made(t *testing.T, s *Set, id string) *Job {
	t.Helper()
	j, err := s.newJob(registry.NewHandle(store.Session{ID: "session", Name: "n"}), api.Call{Job: id}, clocks{}, "line "+id, lineRecord{})
	if err == nil {
		err = s.record(t.Context(), j)
	}
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// A job is found by its id or the beginning of it once it was started, and its id is taken before.
func TestJobsAreFoundByID(t *testing.T) {
	s := withSettings(t)
	if err := s.store.CreateSession(t.Context(), store.Session{ID: "session", Name: "n"}); err != nil {
		t.Fatal(err)
	}
	a, b := made(t, s, "job-a"), made(t, s, "job-b")
	if s.byID("job-a") != nil {
		t.Error("one that was not started is found")
	}
	close(a.settled)
	close(b.settled)
	for ref, want := range map[string]*Job{"job-a": a, "job-b": b, "job-": nil, "": nil, "none": nil} {
		if got := s.byID(ref); got != want {
			t.Errorf("%q: %v", ref, got)
		}
	}
	if err := s.record(t.Context(), &Job{s: s, e: a.e, id: "job-a"}); !errors.Is(err, store.ErrJobExists) {
		t.Errorf("an id is taken twice: %v", err)
	}
	for ref, code := range map[string]api.Code{"none": api.CodeNotFound, "job-": api.CodeAmbiguous, "": api.CodeAmbiguous} {
		_, err := s.jobRecord(t.Context(), ref)
		var e *api.Error
		if !errors.As(err, &e) || e.Code != code {
			t.Errorf("%q: %v, want %s", ref, err, code)
		}
	}
	if !s.exists(t.Context(), "job-a") || s.exists(t.Context(), "none") {
		t.Error("what there is is not known")
	}
	list, err := s.List(t.Context(), store.JobQuery{Limit: 10})
	if err != nil || len(list) != 2 || list[0].ID != "job-a" || list[0].State != store.JobWaiting {
		t.Errorf("%+v, %v", list, err)
	}
	s.drop(a)
	if s.exists(t.Context(), "job-a") {
		t.Error("one that was dropped is still there")
	}
}

// There is a bound to jobs that have not ended, and none is taken while the daemon leaves.
func TestJobsAreBounded(t *testing.T) {
	s := withSettings(t)
	for len(s.live) < maxJobs {
		s.live[strings.Repeat("x", len(s.live)+1)] = &Job{settled: make(chan struct{})}
	}
	e := registry.NewHandle(store.Session{ID: "session"})
	var refused *api.Error
	if err := s.record(t.Context(), &Job{s: s, e: e, id: "one more"}); !errors.As(err, &refused) || refused.Code != api.CodeLimit {
		t.Errorf("%v", err)
	}
	s.Close()
	if err := s.record(t.Context(), &Job{s: s, e: e, id: "late"}); !errors.As(err, &refused) || refused.Code != api.CodeUnavailable || !refused.Retry {
		t.Errorf("while the daemon leaves: %v", err)
	}
	if !s.Leaving() {
		t.Error("it does not leave")
	}
	s.later(func() { t.Error("something is begun") })
}

// A store that fails loses no job: it runs without a record.
func TestJobsWithoutAStore(t *testing.T) {
	s := withSettings(t)
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	j, err := s.newJob(registry.NewHandle(store.Session{ID: "session"}), api.Call{Job: "x"}, clocks{}, "line", lineRecord{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.record(t.Context(), j); err != nil || s.live["x"] != j {
		t.Errorf("%v", err)
	}
	j.save() // is logged
	if _, err := s.Get(t.Context(), "y", Look{}); err == nil {
		t.Error("a job that nobody knows is described")
	}
}

// The first end that is told counts, in any order of beginning and end.
func TestTheFirstEndCounts(t *testing.T) {
	s := withSettings(t)
	newJob := func() *Job {
		j, err := s.newJob(registry.NewHandle(store.Session{ID: "session"}), api.Call{}, clocks{}, "line", nil)
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	code := 3
	begun, ended := session.Command{Running: true}, session.Command{}
	begun.Number, ended.Number, ended.Exit = 4, 4, &code

	j := newJob()
	j.ranLine(&begun, nil)
	if !isClosed(j.begun) || isClosed(j.ended) {
		t.Error("it has not begun, or ended")
	}
	j.ranLine(&ended, nil)
	j.fail(errors.New("late"))
	j.ranLine(&session.Command{}, errors.New("later"))
	if !isClosed(j.ended) || j.err != nil || *j.final.Exit != 3 || j.started.Number != 4 {
		t.Errorf("%v, %+v", j.err, j.final)
	}

	j = newJob()
	j.fail(session.ErrEnded)
	j.ranLine(&ended, nil)
	if !isClosed(j.begun) || !isClosed(j.ended) || !errors.Is(j.err, session.ErrEnded) || j.final.Exit != nil {
		t.Errorf("%v, %+v", j.err, j.final)
	}

	j.mark(endsByClock)
	j.mark(endsByCaller)
	if j.why() != endsByClock {
		t.Error("the last reason counts")
	}
}

// What a call did is in its answer; the record of a result leaves out what was printed.
func TestRecordsLeaveOutput(t *testing.T) {
	s := withSettings(t)
	j, err := s.newJob(registry.NewHandle(store.Session{ID: "session"}), api.Call{Job: "x"}, clocks{}, "line", lineRecord{})
	if err != nil {
		t.Fatal(err)
	}
	out := "secret"
	j.result, j.done = &api.Result{State: "exited", Output: out, Stdout: &out, Stderr: &out}, time.Now()
	r := j.row()
	if r.State != store.JobDone || r.Kind != store.JobLine || strings.Contains(string(r.Result), out) || r.Ended.IsZero() {
		t.Errorf("%+v", r)
	}
	short := withoutOutput(j.result)
	if !short.Truncated || short.Output != "" || short.Stdout != nil || j.result.Output != out || withoutOutput(nil) != nil {
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

// A job that was in the foreground goes on in the background, with the clocks of that, and its record
// says so to the daemon that comes after.
//
// FEATURES: R16
func TestRelease(t *testing.T) {
	s := withSettings(t)
	timeout := int64(5000)
	j, err := s.newJob(registry.NewHandle(store.Session{ID: "session"}), api.Call{Job: "x", TimeoutMS: &timeout}, clocks{wall: 5 * time.Second, idle: time.Second, background: time.Hour}, "line",
		lineRecord{Exec: api.Exec{Call: api.Call{TimeoutMS: &timeout, IdleTimeoutMS: &timeout}, Line: "line"}})
	if err != nil {
		t.Fatal(err)
	}
	j.release()
	j.release() // once
	if !isClosed(j.released) || j.clocks != (clocks{wall: time.Hour, kill: true, background: time.Hour}) {
		t.Errorf("%+v", j.clocks)
	}
	if req := string(j.req); strings.Contains(req, "timeout_ms") || !strings.Contains(req, `"background":true`) || !strings.Contains(req, `"line":"line"`) {
		t.Errorf("%s", req)
	}
}

// A program that tells nothing gives the echo of the line and its prompt back: neither is output.
func TestWithoutEcho(t *testing.T) {
	for _, c := range []struct{ out, line, prompt, want string }{
		{"print(1)\n1\n>>> ", "print(1)", ">>> ", "1\n"},
		{">>> print(1)\n1\n>>> ", "print(1)", ">>> ", "1\n"},
		{"a\nb\nout\n", "a\nb", "", "out\n"},
		{"other\n", "line", "", "other\n"},
		{"line", "line", "$ ", ""},
		{"line\nno prompt", "line", "$ ", "no prompt"},
	} {
		if got := withoutEcho(c.out, c.line, c.prompt); got != c.want {
			t.Errorf("%q after %q: %q, want %q", c.out, c.line, got, c.want)
		}
	}
}

// What is to be done after an answer is done once it was written, and not before.
func TestAfterAnswerWithoutARequest(t *testing.T) {
	afterAnswer(context.Background(), func() { t.Error("nobody was answered") })
}

// Warm shells are for callers of the same directory and environment, but for what means nothing.
func TestPoolKeys(t *testing.T) {
	base := api.NewSession{Cwd: "/", Env: []string{"A=1", "B=2"}}
	same := api.NewSession{Cwd: "/", Env: []string{"B=2", "SHLVL=3", "A=1", "PWD=/x"}}
	if poolKey(&base, "") != poolKey(&same, "") {
		t.Error("order or what means nothing counts")
	}
	for name, n := range map[string]api.NewSession{
		"directory": {Cwd: "/tmp", Env: base.Env}, "value": {Cwd: "/", Env: []string{"A=1", "B=3"}},
		"addition": {Cwd: "/", Env: base.Env, SetEnv: []string{"C=1"}}, "mask": {Cwd: "/", Env: base.Env, Umask: "077"},
	} {
		if poolKey(&n, "") == poolKey(&base, "") || poolKey(&base, "") == poolKey(&base, "agent") {
			t.Errorf("the %s does not count", name)
		}
	}
}
