//go:build unix

package jobs

import (
	"database/sql"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/store"
)

// refusing returns jobs whose database rejects writes, as on a full disk, until the test calls room.
func refusing(t *testing.T, what string) (s *Set, room func()) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "longterm.db")
	st, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(db.Close(), st.Close()) })
	run := func(text string) {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	log := slog.New(slog.DiscardHandler)
	s = New(registry.New(registry.Config{Log: log, Store: st}), st, nil, log, nil)
	t.Cleanup(func() { s.stop(); s.retryQueue.Stop(); s.work.Wait() })
	if err := st.CreateSession(t.Context(), store.Session{ID: "s", Name: "s"}); err != nil {
		t.Fatal(err)
	}
	run("CREATE TRIGGER full BEFORE " + what + " ON jobs BEGIN SELECT RAISE(ABORT, 'no room'); END")
	return s, func() { run("DROP TRIGGER full") }
}

// TestJobsOnAFullDisk checks that callers and lists get a job's end even if the disk accepts no record of it, or only
// the first. Once there is space it is recorded.
//
// FEATURES: R1, R93
func TestJobsOnAFullDisk(t *testing.T) {
	for _, what := range []string{"INSERT", "UPDATE"} {
		t.Run(what, func(t *testing.T) {
			s, room := refusing(t, what)
			ctx := t.Context()
			j, err := s.newJob(registry.NewHandle(store.Session{ID: "s", Name: "s"}), api.Call{Job: "job-1"}, timeouts{}, "echo hi", nil)
			if err == nil {
				err = s.record(ctx, j, triggerRecorded)
			}
			if err != nil {
				t.Fatal(err)
			}
			if r, err := s.jobRecord(ctx, "job"); err != nil || r.ID != "job-1" {
				t.Errorf("while it runs: %q, %v", r.ID, err)
			}
			j.move(triggerStarted, nil)
			j.move(triggerExited, nil)
			j.move(triggerFinished, func() { j.outcome.result, j.outcome.at = &api.Result{State: "exited"}, time.Now() })
			s.forget(j)
			v, err := s.Get(ctx, "job-1", ReadOptions{Await: time.Minute, Stop: true})
			if err != nil || v.State != store.JobDone || v.Outcome != "exited" {
				t.Errorf("its end: %+v, %v", v, err)
			}
			if all, err := s.List(ctx, store.JobQuery{Limit: 1}); err != nil || len(all) != 1 || all[0].State != store.JobDone {
				t.Errorf("listed: %+v, %v", all, err)
			}
			if all, err := s.List(ctx, store.JobQuery{Open: true}); err != nil || len(all) != 0 {
				t.Errorf("listed as one that runs: %+v, %v", all, err)
			}
			room()
			s.retryWrites()
			if r, err := s.store.Job(ctx, "job-1"); err != nil || r.State != store.JobDone || len(s.matching("")) != 0 {
				t.Errorf("once there is space: %+v, %v", r, err)
			}
		})
	}
}

// TestUnwrittenJobIsForgotten checks that a job whose record was never written can be forgotten, and does not come
// back.
func TestUnwrittenJobIsForgotten(t *testing.T) {
	s, room := refusing(t, "INSERT")
	s.retryLater(store.Job{ID: "job-1", Session: "s", State: store.JobDone})
	if err := s.Forget(t.Context(), "job-1"); err != nil {
		t.Error(err)
	}
	room()
	s.retryWrites()
	if _, err := s.store.Job(t.Context(), "job-1"); !errors.Is(err, store.ErrNoJob) {
		t.Error(err)
	}
}

// TestUnwrittenJobsAreWrittenAtTheEnd checks that a failed write is retried a last time when the daemon ends.
func TestUnwrittenJobsAreWrittenAtTheEnd(t *testing.T) {
	s, room := refusing(t, "INSERT")
	s.retryLater(store.Job{ID: "job-1", Session: "s", State: store.JobDone})
	room()
	s.Close()
	if r, err := s.store.Job(t.Context(), "job-1"); err != nil || r.State != store.JobDone {
		t.Errorf("%+v, %v", r, err)
	}
}
