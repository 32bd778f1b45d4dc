//go:build unix

package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/authorize"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/store"
)

// TestClocksWaitForThePerson checks that a line that needs approval is not typed before, its timeouts pause until then,
// and a rejected one is never typed.
//
// FEATURES: R61 R62
func TestClocksWaitForThePerson(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house, sh *script) {
		x := api.Exec{Call: api.Call{Job: "job-1", TimeoutMS: ms(5000)}, Line: "touch f"}
		x.Policy = "readonly"
		a := h.exec(identity.WithActor(t.Context(), agent), sh, x)
		advance(20 * time.Second)
		if r := h.look(t, "job-1"); a.back() || r.State != "needs_approval" || r.TimedOut != "none" || sh.got() != "" {
			t.Fatalf("%+v", r)
		}
		if _, err := h.gate.Answer(t.Context(), h.look(t, "job-1").Approval, person, api.ApprovalAnswer{Answer: "once"}); err != nil {
			t.Fatal(err)
		}
		if got := sh.got(); got != "touch f\r" {
			t.Fatalf("typed %q", got)
		}
		sh.begins("touch f")
		sh.prompts(0)
		if !a.back() || a.err != nil || a.State != "exited" || a.Approval != "A1" {
			t.Errorf("%+v, %v", a.Result, a.err)
		}
		x.Job = "job-2"
		a = h.exec(identity.WithActor(t.Context(), agent), sh, x)
		if _, err := h.gate.Answer(t.Context(), h.look(t, "job-2").Approval, person, api.ApprovalAnswer{Answer: "reject"}); err != nil {
			t.Fatal(err)
		}
		if !a.back() || codeOf(a.err) != api.CodeRejected || sh.got() != "" || h.Running() != 0 {
			t.Errorf("%+v, %v", a.Result, a.err)
		}
	})
}

// executes makes a program in the shell's session execute something that needs approval.
func (h *house) executes(t *testing.T, sh *script, id, file string) *authorize.Pending {
	t.Helper()
	_, p, err := h.gate.Begin(t.Context(), authorize.Request{
		ID: id, Kind: authorize.Execution, Actor: agent, Session: sh.e.ID(), Path: "/usr/bin/touch", Argv: []string{"touch", file}, Cwd: "/",
		Policy: "readonly", Depth: 2,
	})
	if err != nil || p == nil {
		t.Fatalf("no approval request: %v", err)
	}
	synctest.Wait()
	return p
}

func (h *house) allow(t *testing.T, p *authorize.Pending) {
	t.Helper()
	if _, err := h.gate.Answer(t.Context(), p.ID(), person, api.ApprovalAnswer{Answer: "once"}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// TestTimeouts_PausedDuringApproval checks that while a program of a line waits for approval, the line's timeouts
// pause, and the line names the approval. Then they continue where they stopped.
//
// FEATURES: R61 R63
func TestTimeouts_PausedDuringApproval(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house, sh *script) {
		a := h.exec(identity.WithActor(t.Context(), person), sh, api.Exec{
			Call: api.Call{Job: "job-1", TimeoutMS: ms(5000), IdleTimeoutMS: ms(4000)}, Line: "make",
		})
		sh.begins("make")
		advance(3 * time.Second)
		for i, file := range []string{"f", "g"} {
			p := h.executes(t, sh, "x."+file, file)
			advance(time.Hour)
			r := h.look(t, "job-1")
			if a.back() || r.State != "needs_approval" || !r.NeedsApproval || r.Approval != p.ID() || r.TimedOut != "none" || r.Policy == nil {
				t.Fatalf("%d: %+v", i, r)
			}
			if v, err := h.Get(t.Context(), "job-1", ReadOptions{}); err != nil || v.State != "needs_approval" || v.Approval != p.ID() {
				t.Errorf("%d: %+v, %v", i, v, err)
			}
			h.allow(t, p)
		}
		if r := h.look(t, "job-1"); a.back() || r.State != "running" || r.Approval != "" {
			t.Fatalf("%+v", r)
		}
		advance(1500 * time.Millisecond)
		if a.back() {
			t.Fatalf("after 4.5 s of 5: %+v", a.Result)
		}
		advance(time.Second)
		if !a.back() || a.TimedOut != "wall" {
			t.Errorf("after 5.5 s of 5: %+v", a.Result)
		}
		var rec lineRecord
		if r, err := h.store.Job(t.Context(), "job-1"); err != nil || json.Unmarshal(r.Request, &rec) != nil || time.Since(rec.Admitted) > time.Minute {
			t.Errorf("the next daemon counts the time of its wait: %v, %v", rec.Admitted, err)
		}
	})
}

// TestReturn_OnEachApprovalOnce checks that a caller that wants to return at each approval gets each once, also those
// during the line.
//
// FEATURES: R63
func TestReturn_OnEachApprovalOnce(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house, sh *script) {
		ctx := identity.WithActor(t.Context(), person)
		x := api.Exec{Call: api.Call{Job: "job-1", TimeoutMS: ms(0)}, Line: "make", ApprovalOptions: api.ApprovalOptions{OnApproval: "return"}}
		a := h.exec(ctx, sh, x)
		sh.begins("make")
		for _, file := range []string{"f", "g"} {
			if a.back() {
				t.Fatalf("before an approval request for %s: %+v, %v", file, a.Result, a.err)
			}
			p := h.executes(t, sh, "x."+file, file)
			if !a.back() || a.err != nil || a.State != "needs_approval" || a.Approval != p.ID() {
				t.Fatalf("%+v, %v", a.Result, a.err)
			}
			if again := h.exec(ctx, sh, x); !again.back() || again.Approval != p.ID() {
				t.Errorf("a caller that does not know the approval waits: %+v, %v", again.Result, again.err)
			}
			looked := asked(func() (api.Result, error) {
				v, err := h.Get(ctx, "job-1", ReadOptions{Await: time.Minute, OnApproval: "return"})
				return api.Result{State: v.State, Approval: v.Approval}, err
			})
			if !looked.back() || looked.State != "needs_approval" || looked.Approval != p.ID() {
				t.Errorf("a viewing caller waits: %+v, %v", looked.Result, looked.err)
			}
			x.KnownApproval = p.ID()
			a = h.exec(ctx, sh, x)
			if a.back() {
				t.Fatalf("the approval is returned twice: %+v, %v", a.Result, a.err)
			}
			h.allow(t, p)
		}
		sh.prompts(0)
		if !a.back() || a.State != "exited" || sh.got() != "make\r" {
			t.Errorf("%+v, %v", a.Result, a.err)
		}
	})
}

// TestCommandsThatAreNotStarted checks that commands that can or may not be started leave no job behind.
//
// FEATURES: R12
func TestCommandsThatAreNotStarted(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house, _ *script) {
		ctx := identity.WithActor(t.Context(), person)
		for job, x := range map[string]api.Run{
			"empty": {}, "warm": {Warm: true, Keep: true}, "boxed": {Warm: true, NewSession: api.NewSession{Sandbox: "x"}},
			"nokeeper": {NewSession: api.NewSession{Argv: []string{"true"}, Cwd: "/", Env: []string{"PATH=/bin:/usr/bin"}}},
		} {
			x.Job = job
			want := api.CodeInvalid
			if job == "nokeeper" {
				want = api.CodeUnavailable
			}
			if a := h.run(ctx, x); !a.back() || codeOf(a.err) != want || h.exists(ctx, job) {
				t.Errorf("%s: %+v, %v", job, a.Result, a.err)
			}
		}
	})
}

// TestTakenBackBeforeItWaits checks that a command stopped just before its approval wait is withdrawn nevertheless.
//
// FEATURES: R63
func TestTakenBackBeforeItWaits(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house, _ *script) {
		x := api.Run{Call: api.Call{Job: "job-1"}, NewSession: api.NewSession{Argv: []string{"touch", "f"}, Cwd: "/"}}
		x.Policy = "readonly"
		asking := runRequest(agent, &x)
		_, p, err := h.gate.Begin(t.Context(), asking)
		if err != nil || p == nil {
			t.Fatalf("no approval request: %v", err)
		}
		w := h.newPendingStart(x, timeouts{}, asking, p, time.Now())
		if err := w.record(t.Context(), []byte("{}")); err != nil {
			t.Fatal(err)
		}
		w.withdraw()
		w.run(t.Context())
		if !errors.Is(w.err, context.Canceled) || h.gate.Pending() != 0 {
			t.Errorf("%v, %d pending", w.err, h.gate.Pending())
		}
	})
}

// TestSettingsAreJudged checks that of an agent's command, the settings that it sets itself are judged, and of its
// environment the variables that load or run code and differ from the daemon's.
//
// FEATURES: R107
func TestSettingsAreJudged(t *testing.T) {
	t.Setenv("GIT_SSH", "/usr/bin/ssh")
	n := api.NewSession{
		SetEnv: []string{"PATH=/x", "FOO=1"},
		Env: []string{"HOME=/h", "PATH=/y", "LD_PRELOAD=/x.so", "GIT_SSH=/usr/bin/ssh", "GIT_SSH_COMMAND=/x", "GIT_CONFIG_COUNT=1",
			"BASH_FUNC_ls%%=() { x; }", "BASH_ENV=/x", "EDITOR=vi"},
	}
	want := []string{"PATH=/x", "FOO=1", "LD_PRELOAD=/x.so", "GIT_SSH_COMMAND=/x", "GIT_CONFIG_COUNT=1", "BASH_FUNC_ls%%=() { x; }", "BASH_ENV=/x"}
	if got := NewSessionRequest("", agent, &n).Settings; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := NewSessionRequest("", person, &n).Settings; got != nil {
		t.Errorf("a user's: %q", got)
	}
}

// TestApprovalWaitsForALostCaller checks that a remote command that needs approval waits for its caller if the
// connection was lost, for example because a daemon was replaced. It is withdrawn when the caller does not return in
// time. A local command is withdrawn at once.
//
// FEATURES: R63 R115
func TestApprovalWaitsForALostCaller(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house, _ *script) {
		x := api.Run{Call: api.Call{Job: "job-1"}, NewSession: api.NewSession{Argv: []string{"touch", "f"}, Cwd: "/"}}
		x.Policy = "readonly"
		far := agent
		far.Host = "two"
		begin := func(who identity.Actor) (a *answered, cut func()) {
			ctx, cut := context.WithCancel(identity.WithActor(t.Context(), who))
			if a = h.run(ctx, x); a.back() || h.gate.Pending() != 1 {
				t.Fatalf("%+v, %v, %d pending", a.Result, a.err, h.gate.Pending())
			}
			return a, cut
		}
		first, cut := begin(far)
		cut()
		advance(reconnectTime / 2)
		if !first.back() || h.gate.Pending() != 1 {
			t.Fatalf("its caller was lost: %v, %d pending", first.err, h.gate.Pending())
		}
		_, cut = begin(far)
		advance(2 * reconnectTime)
		if h.gate.Pending() != 1 {
			t.Fatal("its caller is connected, and it was withdrawn")
		}
		cut()
		advance(reconnectTime - time.Second)
		if h.gate.Pending() != 1 {
			t.Fatal("it was withdrawn before its time")
		}
		if advance(2 * time.Second); h.gate.Pending() != 0 || h.pendingStartByID(x.Job) != nil {
			t.Errorf("no caller came back: %d pending", h.gate.Pending())
		}
		x.Job = "job-2"
		_, cut = begin(agent)
		cut()
		if synctest.Wait(); h.gate.Pending() != 0 {
			t.Error("a local caller disconnected, and its approval is pending")
		}
	})
}

// TestApproval_EndsJob_UnlessCallerReconnects checks that a caller that returned for an approval and is killed before
// it repeats its request loses its line or command after reconnectTime. One that repeats it in time does not.
//
// FEATURES: R63
func TestApproval_EndsJob_UnlessCallerReconnects(t *testing.T) {
	for _, kind := range []string{"line", "command"} {
		inHouse(t, func(t *testing.T, h *house, sh *script) {
			ctx := identity.WithActor(t.Context(), agent)
			request := func(job, known string) *answered {
				call, how := api.Call{Job: job}, api.ApprovalOptions{Policy: "readonly", OnApproval: "return", KnownApproval: known}
				if job == "continues" {
					call.OnTimeout = "background"
				}
				if kind == "line" {
					return h.exec(ctx, sh, api.Exec{Call: call, Line: "touch " + job, ApprovalOptions: how})
				}
				return h.run(ctx, api.Run{Call: call, NewSession: api.NewSession{Argv: []string{"touch", job}, Cwd: "/", ApprovalOptions: how}})
			}
			a := request("left", "")
			if !a.back() || !a.NeedsApproval {
				t.Fatalf("%s: %+v, %v", kind, a.Result, a.err)
			}
			h.EndUnlessReconnected("left")
			if advance(reconnectTime - time.Second); h.gate.Pending() != 1 {
				t.Fatalf("%s: it ended before reconnectTime", kind)
			}
			if advance(2 * time.Second); h.gate.Pending() != 0 {
				t.Fatalf("%s: no caller came back, and its approval is pending", kind)
			}
			a = request("rejoined", "")
			if !a.back() || !a.NeedsApproval {
				t.Fatalf("%s: %+v, %v", kind, a.Result, a.err)
			}
			h.EndUnlessReconnected("rejoined")
			if a = request("rejoined", a.Approval); a.back() {
				t.Fatalf("%s: the second request returned: %+v, %v", kind, a.Result, a.err)
			}
			if advance(2 * reconnectTime); h.gate.Pending() != 1 {
				t.Fatalf("%s: its caller waits, and its approval was withdrawn", kind)
			}
			if a = request("continues", ""); !a.back() || !a.NeedsApproval {
				t.Fatalf("%s: %+v, %v", kind, a.Result, a.err)
			}
			h.EndUnlessReconnected("continues")
			if advance(2 * reconnectTime); h.gate.Pending() != 2 {
				t.Errorf("%s: a job that continues in the background was ended", kind)
			}
		})
	}
}

// TestEventsOfRefusedCommands checks that the event of a command that was rejected or withdrawn shows its end: the
// command is not listed as waiting then.
//
// FEATURES: R1 R63
func TestEventsOfRefusedCommands(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house, _ *script) {
		events := h.reg.Bus.Listen()
		defer h.reg.Bus.Unsubscribe(events)
		x := api.Run{NewSession: api.NewSession{Argv: []string{"touch", "f"}, Cwd: "/"}}
		x.Policy = "readonly"
		for _, c := range []struct {
			job, outcome string
			end          func()
		}{
			{"job-1", "denied", func() {
				_, _ = h.gate.Answer(t.Context(), h.look(t, "job-1").Approval, person, api.ApprovalAnswer{Answer: "reject"})
			}},
			{"job-2", "killed", func() { _, _ = h.Stop(t.Context(), "job-2", 0, false) }},
		} {
			x.Job = c.job
			a := h.run(identity.WithActor(t.Context(), agent), x)
			if c.end(); !a.back() || a.err == nil {
				t.Fatalf("%s: %+v, %v", c.job, a.Result, a.err)
			}
			if v := (<-events.C).Job; v == nil || v.ID != c.job || v.State != store.JobDone || v.Outcome != c.outcome || v.Result.NeedsApproval {
				t.Errorf("%s: %+v", c.job, v)
			}
		}
	})
}

// TestJobsThatAreNotRecorded checks that a caller that requests a job whose first caller could not record it gets an
// answer, and does not wait for it.
//
// FEATURES: R1
func TestJobsThatAreNotRecorded(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house, sh *script) {
		j, err := h.newJob(sh.e, api.Call{Job: "job-1"}, timeouts{}, "line", lineRecord{})
		if err != nil {
			t.Fatal(err)
		}
		h.live["job-1"] = j
		second := h.exec(identity.WithActor(t.Context(), person), sh, line("job-1", "line"))
		if second.back() {
			t.Fatalf("it does not wait for the first: %+v, %v", second.Result, second.err)
		}
		delete(h.live, "job-1")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := h.record(ctx, j, triggerRecorded); !errors.Is(err, context.Canceled) || !second.back() || !second.retry() {
			t.Errorf("%v; the second: %+v, %v", err, second.Result, second.err)
		}
	})
}
