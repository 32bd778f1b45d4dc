//go:build unix

package jobs

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/store"
)

// A line that a person has to allow is not typed before, its clocks stand still until then, and what is rejected
// is never typed.
//
// FEATURES: R61 R62
func TestClocksWaitForThePerson(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house, sh *script) {
		x := api.Exec{Call: api.Call{Job: "job-1", TimeoutMS: ms(5000)}, Line: "touch f"}
		x.Policy = "readonly"
		a := h.exec(actor.With(t.Context(), agent), sh, x)
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
		a = h.exec(actor.With(t.Context(), agent), sh, x)
		if _, err := h.gate.Answer(t.Context(), h.look(t, "job-2").Approval, person, api.ApprovalAnswer{Answer: "reject"}); err != nil {
			t.Fatal(err)
		}
		if !a.back() || codeOf(a.err) != api.CodeRejected || sh.got() != "" || h.Running() != 0 {
			t.Errorf("%+v, %v", a.Result, a.err)
		}
	})
}

// Commands that can or may not be started leave no job behind.
//
// FEATURES: R12
func TestCommandsThatAreNotStarted(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house, _ *script) {
		ctx := actor.With(t.Context(), person)
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

// A command that is stopped before its wait for a person began is taken back all the same.
//
// FEATURES: R63
func TestTakenBackBeforeItWaits(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house, _ *script) {
		x := api.Run{Call: api.Call{Job: "job-1"}, NewSession: api.NewSession{Argv: []string{"touch", "f"}, Cwd: "/"}}
		x.Policy = "readonly"
		asking := askRun(agent, &x)
		_, p, err := h.gate.Begin(t.Context(), asking)
		if err != nil || p == nil {
			t.Fatalf("nobody is asked: %v", err)
		}
		w := h.newWanted(x, clocks{}, asking, p, time.Now())
		if err := h.store.AddJob(t.Context(), store.Job{ID: x.Job, Kind: store.JobCommand, State: store.JobWaiting, Request: []byte("{}"), Created: w.began}); err != nil {
			t.Fatal(err)
		}
		w.takeBack()
		w.run(t.Context())
		if !errors.Is(w.err, context.Canceled) || h.gate.Pending() != 0 {
			t.Errorf("%v, %d pending", w.err, h.gate.Pending())
		}
	})
}

// Of what an agent's command is started with, what it sets itself is judged, and of its environment what loads or
// runs something and is not the daemon's own.
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
	if got := AskNew("", agent, &n).Settings; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := AskNew("", person, &n).Settings; got != nil {
		t.Errorf("a person's: %q", got)
	}
}
