//go:build unix

package jobs

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/store"
)

func line(job, text string) api.Exec { return api.Exec{Call: api.Call{Job: job}, Line: text} }

// TestTheSameIDIsTheSameJob checks that a line runs once from request to result, whichever caller repeats its id:
// before its start, while it runs, and after its end.
//
// FEATURES: R1 R2
func TestTheSameIDIsTheSameJob(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house, sh *script) {
		ctx := identity.WithActor(t.Context(), person)
		first := h.exec(ctx, sh, line("job-1", "make"))
		if got := sh.got(); got != "make\r" {
			t.Fatalf("typed %q", got)
		}
		early := h.exec(ctx, sh, line("job-1", "make"))
		sh.begins("make")
		during := h.exec(ctx, sh, line("job-1", "make"))
		if first.back() || early.back() || during.back() || h.Running() != 1 {
			t.Fatalf("a call returns before the end, or %d jobs run", h.Running())
		}
		sh.says("built\r\n")
		sh.prompts(3)
		after := h.exec(ctx, sh, line("job-1", "make"))
		for name, a := range map[string]*answered{"first": first, "before it began": early, "while it ran": during, "after its end": after} {
			if !a.back() || a.err != nil || a.State != "exited" || a.ExitCode == nil || *a.ExitCode != 3 || a.Job != "job-1" {
				t.Errorf("%s: %+v, %v", name, a.Result, a.err)
			}
		}
		if first.Output != "built\n" || during.Output != first.Output {
			t.Errorf("%q, %q", first.Output, during.Output)
		}
		if got := sh.got(); got != "" || h.Running() != 0 {
			t.Errorf("typed once more: %q; %d jobs", got, h.Running())
		}
		if r, err := h.store.Job(ctx, "job-1"); err != nil || r.State != store.JobDone || r.N == 0 {
			t.Errorf("the record: %+v, %v", r, err)
		}
	})
}

// TestExec_ReportsLost_WhenTheKeeperDies runs a line whose keeper dies before the shell reports the line's end.
//
// FEATURES: R93
func TestExec_ReportsLost_WhenTheKeeperDies(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house, sh *script) {
		a := h.exec(identity.WithActor(t.Context(), person), sh, line("job-1", "sleep 600"))
		sh.begins("sleep 600")
		sh.e.Session.KeeperLost()
		if !a.back() || a.err != nil || a.State != "lost" || a.ExitCode != nil || a.Error != errKeeperLost {
			t.Errorf("%+v, %v", a.Result, a.err)
		}
	})
}

// TestClocksOfALine checks that a line that runs when a timeout expires continues in the background, without the
// foreground's timeouts, or is ended if requested. Its output resets the idle timeout only.
//
// FEATURES: R16
func TestClocksOfALine(t *testing.T) {
	for _, c := range []struct {
		name     string
		x        api.Call
		printing bool // something every second
		after    time.Duration
		state    string
		timedOut string
		goesOn   bool
	}{
		{"wall", api.Call{TimeoutMS: ms(5000)}, false, 5 * time.Second, "running", "wall", true},
		{"idle", api.Call{IdleTimeoutMS: ms(3000)}, false, 3 * time.Second, "running", "idle", true},
		{"wall, while it prints", api.Call{TimeoutMS: ms(5000), IdleTimeoutMS: ms(3000)}, true, 5 * time.Second, "running", "wall", true},
		{"yield", api.Call{YieldMS: 4000, TimeoutMS: ms(60_000)}, false, 4 * time.Second, "running", "none", true},
		{"background", api.Call{Background: true}, false, 0, "running", "none", true},
		{"killed", api.Call{TimeoutMS: ms(5000), OnTimeout: "kill"}, false, 5 * time.Second, "killed", "wall", false},
		{"killed when idle", api.Call{IdleTimeoutMS: ms(3000), OnTimeout: "kill"}, false, 3 * time.Second, "killed", "idle", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			inHouse(t, func(t *testing.T, h *house, sh *script) {
				ctx, began := identity.WithActor(t.Context(), person), time.Now()
				c.x.Job = "job-1"
				sh.endsIfKilled(c.x, began.Add(c.after))
				a := h.exec(ctx, sh, api.Exec{Call: c.x, Line: "work"})
				if !a.back() {
					sh.begins("work")
				}
				for c.printing && !a.back() {
					advance(time.Second)
					sh.says(".")
				}
				<-a.done
				if took := time.Since(began); took < c.after || took > c.after+time.Second {
					t.Errorf("after %s, want %s", took, c.after)
				}
				if c.x.Background {
					sh.begins("work")
					a.Result = h.look(t, "job-1")
				}
				if a.err != nil || a.State != c.state || a.TimedOut != c.timedOut || a.InBackground != c.goesOn {
					t.Fatalf("%+v, %v", a.Result, a.err)
				}
				if !c.goesOn {
					return
				}
				advance(time.Hour) // the foreground's clocks are off
				if r := h.look(t, "job-1"); r.State != "running" {
					t.Fatalf("an hour later: %+v", r)
				}
				sh.prompts(4)
				if r := h.look(t, "job-1"); r.State != "exited" || *r.ExitCode != 4 || r.InBackground {
					t.Errorf("in the end: %+v", r)
				}
			})
		})
	}
}

// advance lets time pass.
func advance(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// endsIfKilled makes the shell end its command soon after a time, as by a signal, if the call ends lines then.
func (d *script) endsIfKilled(c api.Call, at time.Time) {
	if c.OnTimeout != "kill" {
		return
	}
	time.AfterFunc(time.Until(at.Add(50*time.Millisecond)), func() { d.prints("\x1b]133;D;130;lt=n\a\x1b]133;A;lt=n;n=2;exit=130\a$ \x1b]133;B;lt=n\a") })
}

// look returns a job's record.
func (h *house) look(t *testing.T, job string) api.Result {
	t.Helper()
	synctest.Wait()
	v, err := h.Get(t.Context(), job, ReadOptions{})
	if err != nil || v.Result == nil {
		t.Fatalf("%s: %+v, %v", job, v, err)
	}
	return *v.Result
}

// TestLinesInAQueue checks that a line waits for a busy shell until its turn. One that is stopped or times out before
// that is never typed, and one that does not wait leaves no trace of its id.
//
// FEATURES: R1 R16
func TestLinesInAQueue(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house, sh *script) {
		ctx := identity.WithActor(t.Context(), person)
		wait := func(job, text string, c api.Call) *answered {
			c.Job = job
			return h.exec(ctx, sh, api.Exec{Call: c, Line: text, Wait: true})
		}
		first := h.exec(ctx, sh, line("job-1", "one"))
		sh.begins("one")
		if got := sh.got(); got != "one\r" {
			t.Fatalf("typed %q", got)
		}
		if busy := h.exec(ctx, sh, line("job-2", "two")); !busy.back() || busy.err == nil || h.exists(ctx, "job-2") {
			t.Fatalf("a busy shell accepts it: %+v, %v", busy.Result, busy.err)
		}
		second, stopped := wait("job-2", "two", api.Call{}), wait("job-3", "three", api.Call{})
		late, last := wait("job-4", "four", api.Call{TimeoutMS: ms(1000)}), wait("job-5", "five", api.Call{})
		if _, err := h.Stop(ctx, "job-3", time.Second, false); err != nil {
			t.Fatal(err)
		}
		if !stopped.back() || stopped.State != "killed" || stopped.ExitCode != nil {
			t.Errorf("stopped: %+v, %v", stopped.Result, stopped.err)
		}
		<-late.done
		if late.State != "waiting" || late.TimedOut != "wall" || late.InBackground {
			t.Errorf("late: %+v, %v", late.Result, late.err)
		}
		if err := h.Forget(ctx, "job-1"); codeOf(err) != api.CodeRunning {
			t.Errorf("one that runs is forgotten: %v", err)
		}
		for i, want := range []string{"two\r", "five\r", ""} {
			sh.prompts(i)
			advance(time.Second)
			got := sh.got()
			if got != want {
				t.Fatalf("typed %q, want %q", got, want)
			}
			if want != "" {
				sh.begins(want[:len(want)-1])
			}
		}
		for i, a := range []*answered{first, second, last} {
			if !a.back() || a.err != nil || a.ExitCode == nil || *a.ExitCode != i {
				t.Errorf("%d: %+v, %v", i, a.Result, a.err)
			}
		}
		if err := h.Forget(ctx, "job-1"); err != nil {
			t.Error(err)
		}
		if _, err := h.Get(ctx, "job-1", ReadOptions{}); codeOf(err) != api.CodeNotFound {
			t.Errorf("one that was forgotten: %v", err)
		}
		if _, err := h.Stop(ctx, "job-5", time.Second, false); codeOf(err) != api.CodeEnded {
			t.Errorf("one that has ended is stopped: %v", err)
		}
	})
}

// TestDeadCallers checks that a disconnected caller's line is withdrawn, unless it was to continue; other waiters have
// no effect.
//
// FEATURES: R16
func TestDeadCallers(t *testing.T) {
	for _, c := range []struct {
		name    string
		x       api.Call
		looks   bool
		aborted bool
	}{
		{"the one who asked", api.Call{}, false, true},
		{"the one who asked, of what goes on", api.Call{OnTimeout: "background"}, false, false},
		{"one who looks on", api.Call{}, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			inHouse(t, func(t *testing.T, h *house, sh *script) {
				ctx, goAway := context.WithCancel(identity.WithActor(t.Context(), person))
				defer goAway()
				c.x.Job = "job-1"
				askedFor := ctx
				if c.looks {
					askedFor = identity.WithActor(t.Context(), person)
				}
				a := h.exec(askedFor, sh, api.Exec{Call: c.x, Line: "work"})
				sh.begins("work")
				if c.looks {
					a = asked(func() (api.Result, error) {
						_, err := h.Get(ctx, "job-1", ReadOptions{Await: time.Hour})
						return api.Result{}, err
					})
				}
				goAway()
				if !a.back() {
					t.Fatal("a disconnected caller's call continues")
				}
				sh.prompts(130)
				r := h.look(t, "job-1")
				if state := map[bool]string{true: "killed", false: "exited"}[c.aborted]; r.State != state || r.Aborted != c.aborted {
					t.Errorf("%+v", r)
				}
			})
		})
	}
}

// TestTheShellEnds checks that a shell that exits during a line answers all callers: the line's with what is known, the
// others with the notice that their line was not typed. No unfinished job remains.
//
// FEATURES: R2
func TestTheShellEnds(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house, sh *script) {
		ctx := identity.WithActor(t.Context(), person)
		exits := h.exec(ctx, sh, line("job-1", "exit 3"))
		sh.begins("exit 3")
		waits := h.exec(ctx, sh, api.Exec{Call: api.Call{Job: "job-2"}, Line: "more", Wait: true})
		asked := line("job-4", "touch f")
		asked.Policy, asked.Wait = "readonly", true
		allowed := h.exec(ctx, sh, asked)
		if h.gate.Pending() != 1 {
			t.Fatal("no approval request")
		}
		sh.got()
		sh.ends(3)
		for name, a := range map[string]*answered{"that waits": waits, "that is asked about": allowed} {
			job := map[string]string{"that waits": "job-2", "that is asked about": "job-4"}[name]
			if !a.back() || !errors.Is(a.err, session.ErrEnded) || !strings.Contains(a.err.Error(), "nothing of it was run") {
				t.Errorf("a line %s: %+v, %v", name, a.Result, a.err)
			}
			if r := h.look(t, job); r.State != "refused" || r.Output != "" || !strings.Contains(r.Message, "nothing of it was run") {
				t.Errorf("a line %s: %+v", name, r)
			}
		}
		if h.gate.Pending() != 0 {
			t.Error("its approval is still pending")
		}
		if !exits.back() || exits.err != nil || exits.State != "ended" || exits.Error != "" {
			t.Errorf("%+v, %v", exits.Result, exits.err)
		}
		if !waits.back() || waits.err == nil || waits.ExitCode != nil || sh.got() != "" {
			t.Errorf("%+v, %v", waits.Result, waits.err)
		}
		if a := h.exec(ctx, sh, line("job-3", "late")); !a.back() || a.err == nil || h.exists(ctx, "job-3") {
			t.Errorf("a line after the end: %+v, %v", a.Result, a.err)
		}
		if h.Running() != 0 {
			t.Errorf("%d jobs run on", h.Running())
		}
	})
}

// TestLeavingWithALineInEachState checks that a daemon that leaves sends all callers to its successor, and stores no
// end of running jobs.
//
// FAULT: A15
func TestLeavingWithALineInEachState(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house, sh *script) {
		ctx := identity.WithActor(t.Context(), person)
		running := h.exec(ctx, sh, line("job-1", "work"))
		sh.begins("work")
		waiting := h.exec(ctx, sh, api.Exec{Call: api.Call{Job: "job-2"}, Line: "more", Wait: true})
		nameless := h.exec(ctx, sh, api.Exec{Line: "more", Wait: true})
		h.Close()
		for name, a := range map[string]*answered{"running": running, "waiting": waiting} {
			if !a.back() || codeOf(a.err) != api.CodeUnavailable || !a.retry() {
				t.Errorf("%s: %v", name, a.err)
			}
		}
		if !nameless.back() || nameless.retry() { // a repeated request would be another job
			t.Errorf("one without an id: %v", nameless.err)
		}
		for job, state := range map[string]string{"job-1": store.JobRunning, "job-2": store.JobWaiting} {
			if r, err := h.store.Job(ctx, job); err != nil || r.State != state || len(r.Result) > 0 {
				t.Errorf("%s: %+v, %v", job, r, err)
			}
		}
		if late := h.exec(ctx, sh, line("job-1", "work")); !late.back() || !late.retry() {
			t.Errorf("requested again from the daemon that ends: %v", late.err)
		}
		if _, err := h.Stop(ctx, "job-1", time.Second, false); err != session.ErrStopped {
			t.Errorf("%v", err)
		}
	})
}

// TestStoppedLinesAreNotTypedLater checks that a line that is stopped while it waits for a program's prompt, or for a
// line of the previous daemon, is never typed.
//
// FEATURES: R15 R16
func TestStoppedLinesAreNotTypedLater(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house, sh *script) {
		stop := func(job string, a *answered) {
			t.Helper()
			if _, err := h.Stop(t.Context(), job, time.Second, false); err != nil {
				t.Fatal(err)
			}
			if r := h.look(t, job); r.State != "killed" || a != nil && !a.back() {
				t.Errorf("%s: %+v", job, r)
			}
		}
		h.exec(identity.WithActor(t.Context(), person), sh, line("job-1", "python3"))
		sh.begins("python3")
		x := line("job-2", "touch f")
		x.Policy, x.Foreign, x.Wait = "readonly", true, true
		program := h.exec(identity.WithActor(t.Context(), agent), sh, x)
		if _, err := h.gate.Answer(t.Context(), h.look(t, "job-2").Approval, person, api.ApprovalAnswer{Answer: "once"}); err != nil {
			t.Fatal(err)
		}
		advance(time.Second)
		stop("job-2", program)

		found := func(id, text string, behind *Job) *Job {
			j, err := h.newJob(sh.e, api.Call{Job: id}, timeouts{}, text, lineRecord{Exec: line(id, text)})
			if err == nil {
				err = h.store.AddJob(t.Context(), j.row())
			}
			if err != nil {
				t.Fatal(err)
			}
			j.previous = previous{line: behind, recordOnly: true}
			j.approval.request = lineRequest(id, person, sh.e, line(id, text))
			h.live[id] = j
			j.move(triggerAdopted, nil)
			return j
		}
		typed := found("job-3", "make", nil)
		typed.outcome.started.Number = 9
		h.follow(typed, func(ctx context.Context) { typed.followAdopted(ctx, line("job-3", "make")) })
		waits := found("job-4", "touch g", typed)
		h.follow(waits, func(ctx context.Context) { waits.followAdopted(ctx, line("job-4", "touch g")) })
		advance(time.Second)
		stop("job-4", nil)
		typed.fail(errors.New("over"))
		sh.got()
		sh.prompts(0)
		advance(time.Minute)
		if got := sh.got(); got != "" {
			t.Errorf("typed %q", got)
		}
	})
}
