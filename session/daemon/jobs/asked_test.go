//go:build unix

package jobs

import (
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
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
