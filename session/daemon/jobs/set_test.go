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
	"github.com/longterm-dev/longterm/session/daemon/authorize"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store"
)

// testJobs are jobs and sessions with only a database.
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

// TestRecordsKeepTheirOrder checks that a record "running" never replaces one "done", however late it is written.
//
// FAULT: A15
func TestRecordsKeepTheirOrder(t *testing.T) {
	s := testJobs(t)
	for n := range 300 {
		rec := store.Session{ID: strconv.Itoa(n), Name: strconv.Itoa(n), State: "running"}
		if err := s.store.CreateSession(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		j, err := s.newJob(registry.NewHandle(rec), api.Call{}, timeouts{}, "x", nil)
		if err == nil {
			err = s.record(t.Context(), j, triggerRecorded)
		}
		if err != nil || !j.move(triggerStarted, nil) || !j.move(triggerExited, nil) {
			t.Fatalf("%s, %v", j.state, err)
		}
		var writers sync.WaitGroup
		for range 3 { // callers that saw its start, or sent it to the background
			writers.Go(j.save)
		}
		writers.Go(func() {
			j.move(triggerFinished, func() { j.outcome.result, j.outcome.at = &api.Result{State: "exited"}, time.Now() })
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

// TestARunningLineReachesNoPrompt checks that a running line's output ends at the offset that the owner had processed
// while it ran: later output may belong to the prompt.
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
		{at(shell.PhaseRunning, 3, 90), 100},  // its echo is not complete
		{at(shell.PhaseRunning, 3, 150), 150}, // its own output
		{at(shell.PhasePrompt, 0, 170), 150},  // it contains the prompt; its end determines where it started
		{at(shell.PhaseRunning, 4, 160), 160}, // a line of several commands
		{at(shell.PhaseRunning, 4, 155), 160}, // probed before
	} {
		if got := j.outputEnd(&c, x.st); got != x.want {
			t.Errorf("%+v: %d, want %d", x.st.Shell, got, x.want)
		}
	}
}

// TestStateOfPendingStart checks that a command that is allowed and about to be started has a state too.
//
// FEATURES: R1
func TestStateOfPendingStart(t *testing.T) {
	s := testJobs(t)
	w := s.newPendingStart(api.Run{Call: api.Call{Job: "j"}}, timeouts{}, authorize.Request{}, nil, time.Now())
	if r, v := w.result(), w.view(); r.State != "waiting" || v.State != r.State {
		t.Errorf("%q, %q", r.State, v.State)
	}
}

// TestStoredEnvironments_SurviveSweep checks that a daemon's start clears memory of removed commands, and keeps that of
// a command about to wait.
//
// FEATURES: R63
func TestStoredEnvironments_SurviveSweep(t *testing.T) {
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
				_ = shell.RemoveStaleMemoryDirs() // another user's, or removed since
			}
		}
	}()
	for n := range 300 {
		job := strconv.Itoa(n)
		if err := s.saveEnv(job, []string{"A=b"}); err != nil {
			t.Fatal(err)
		}
		if env, err := s.loadEnv(job); err != nil || len(env) != 1 {
			t.Fatalf("%q, %v", env, err)
		}
		s.removeEnv(job)
	}
	close(over)
	<-swept
}
