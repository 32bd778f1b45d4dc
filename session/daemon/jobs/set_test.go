//go:build unix

package jobs

import (
	"log/slog"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/gateway"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store"
)

// testJobs are jobs and sessions with a database and nothing else.
func testJobs(t *testing.T) *Set {
	t.Helper()
	st, err := store.Open(filepath.Join(t.TempDir(), "longterm.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	log := slog.New(slog.DiscardHandler)
	return New(registry.New(registry.Config{Log: log, Store: st}), st, nil, log, nil)
}

// A record that says "running" never replaces one that says "done", however late who wrote
// it comes.
//
// FAULT: A15
func TestRecordsKeepTheirOrder(t *testing.T) {
	s := testJobs(t)
	for n := range 300 {
		rec := store.Session{ID: strconv.Itoa(n), Name: strconv.Itoa(n), State: "running"}
		if err := s.store.CreateSession(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		j, err := s.newJob(registry.NewHandle(rec), api.Call{}, clocks{}, "x", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.record(t.Context(), j); err != nil {
			t.Fatal(err)
		}
		close(j.begun)
		var writers sync.WaitGroup
		for range 3 { // who saw its beginning, who sent it to the background
			writers.Go(j.save)
		}
		writers.Go(func() {
			j.mu.Lock()
			j.result, j.done = &api.Result{State: "exited"}, time.Now()
			j.mu.Unlock()
			j.save()
		})
		writers.Wait()
		r, err := s.store.Job(t.Context(), j.id)
		if err != nil || r.State != store.JobDone {
			t.Fatalf("job %d: %s, %v", n, r.State, err)
		}
		if res, err := resultOf(&r); err != nil || res.State != "exited" {
			t.Fatalf("job %d: %+v, %v", n, res, err)
		}
		s.forget(j)
	}
}

// A running line's output ends where the owner is known to have been while it ran: what the
// terminal shows beyond may be the prompt's already.
//
// FEATURES: R16
func TestARunningLineReachesNoPrompt(t *testing.T) {
	j := &Job{}
	c := session.Command{}
	c.Number, c.Start = 3, 100
	at := func(phase shell.Phase, number, offset uint64) *session.Status {
		return &session.Status{Offset: offset, Shell: session.ShellStatus{Phase: phase, Number: number}}
	}
	for _, x := range []struct {
		st   *session.Status
		want uint64
	}{
		{at(shell.PhaseRunning, 2, 90), 100},  // the line before
		{at(shell.PhaseRunning, 3, 90), 100},  // its echo is not over
		{at(shell.PhaseRunning, 3, 150), 150}, // its own
		{at(shell.PhasePrompt, 0, 170), 150},  // the prompt is in it; where it began, its end will tell
		{at(shell.PhaseRunning, 4, 160), 160}, // a line of several commands
		{at(shell.PhaseRunning, 4, 155), 160}, // looked at before
	} {
		if got := j.reached(&c, x.st); got != x.want {
			t.Errorf("%+v: %d, want %d", x.st.Shell, got, x.want)
		}
	}
}

// A command that is allowed and about to be started has a state, too.
//
// FEATURES: R1
func TestStateOfWanted(t *testing.T) {
	s := testJobs(t)
	w := s.newWanted(api.Run{Call: api.Call{Job: "j"}}, clocks{}, gateway.Ask{}, nil, time.Now())
	if r, v := w.result(), w.view(); r.State != "waiting" || v.State != r.State {
		t.Errorf("%q, %q", r.State, v.State)
	}
}

// Another daemon that starts clears memory of what is gone, and not of what a command leaves there that is about to wait.
//
// FEATURES: R63
func TestKeptEnvironmentsAreNotSwept(t *testing.T) {
	tier.Full(t)
	s := testJobs(t)
	s.reg = registry.New(registry.Config{Log: s.log, Store: s.store, Dirs: paths.Dirs{State: t.TempDir()}})
	if dir, err := shell.MemoryDir(t.TempDir()); err != nil || dir == "" {
		t.Logf("nothing outlives a daemon in memory here: %v", err)
		return
	} else if err := shell.RemoveMemoryDir(dir); err != nil {
		t.Fatal(err)
	}
	over, swept := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(swept)
		for {
			select {
			case <-over:
				return
			default:
				_ = shell.SweepMemory() // another user's, or gone meanwhile
			}
		}
	}()
	for n := range 300 {
		job := strconv.Itoa(n)
		if err := s.keepEnv(job, []string{"A=b"}); err != nil {
			t.Fatal(err)
		}
		if env, err := s.keptEnv(job); err != nil || len(env) != 1 {
			t.Fatalf("%q, %v", env, err)
		}
		s.dropEnv(job)
	}
	close(over)
	<-swept
}
