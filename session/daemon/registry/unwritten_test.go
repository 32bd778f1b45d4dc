//go:build unix

package registry

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/internal/retryqueue"
	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/store"
)

// running is a registry with a session that is recorded as one that runs, and lost for this daemon, which loaded it.
func running(t *testing.T, labels map[string]string) (*Registry, *Handle) {
	t.Helper()
	id, at := uuid.NewString(), time.Now().Round(0)
	r, _ := hosted(t, func(r *Registry) {
		record(t, r, store.Session{
			ID: id, Name: "s", State: string(session.Running), PID: 1 << 30, Created: at, Started: at, Restore: restoreCommand, Labels: labels,
		})
	})
	e := r.ByID(id)
	if err := r.newHistoryOwner(e); err != nil {
		t.Fatal(err)
	}
	return r, e
}

func recorded(t *testing.T, r *Registry, e *Handle) store.Session {
	t.Helper()
	rec, err := r.store.Session(t.Context(), e.ID())
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// TestEndOnAFullDisk checks that a session that ended while the disk accepted no record has ended for the next daemon
// too, with all known details, whether the daemon before was killed or left. A successful or killed session is not
// restarted.
//
// FEATURES: R90, R93, R123
func TestEndOnAFullDisk(t *testing.T) {
	t.Parallel()
	zero, seven := 0, 7
	for name, c := range map[string]struct {
		stop   bool
		exit   session.Exit
		code   *int
		signal string
	}{
		"well":        {exit: session.Exit{}, code: &zero},
		"with a code": {exit: session.Exit{Code: seven}, code: &seven},
		"by request":  {stop: true, exit: session.Exit{Code: -1, Signal: "SIGTERM"}, signal: "SIGTERM"},
	} {
		t.Run(name, func(t *testing.T) {
			r, e := running(t, map[string]string{api.RestartLabel: "always"})
			r.restarts.stop() // it is about the next daemon
			room := refuses(t, r, "UPDATE")
			e.endRequested.Store(c.stop)
			ended := time.Now().Round(0)
			r.saveEnd(e, session.Status{State: session.Exited, Ended: ended, Exit: &c.exit})
			r.Flush(t.Context())
			if !isKept(r, e) || recorded(t, r, e).State != string(session.Running) {
				t.Fatal("it was recorded")
			}
			if !r.isRecorded(t.Context(), e) {
				t.Error("its keeper has to keep the end, which is noted")
			}
			next := New(Config{Dirs: r.dirs, Log: r.log, Store: r.store, Settings: r.conf, Host: r.host}) // the one before was killed
			if err := next.Load(t.Context()); err != nil {
				t.Fatal(err)
			}
			next.AdoptAll(t.Context(), nil, nil)
			if len(next.adoption.lost) > 0 {
				t.Error("the next daemon treats it as lost")
			}
			for who, rec := range map[string]store.Session{"in memory": next.ByID(e.ID()).Record(), "before": e.Record()} {
				if rec.State != string(session.Exited) || !rec.Ended.Equal(ended) || rec.Stopped != c.stop || rec.Signal != c.signal ||
					(rec.ExitCode == nil) != (c.code == nil) || c.code != nil && *rec.ExitCode != *c.code {
					t.Errorf("%s: %s, %v, %q, stopped: %v", who, rec.State, rec.ExitCode, rec.Signal, rec.Stopped)
				}
			}
			room()
			next.StopAll() // which tries again
			if rec := recorded(t, r, e); rec.State != string(session.Exited) || rec.Stopped != c.stop {
				t.Errorf("once there is space: %+v", rec)
			}
			if _, err := os.Lstat(filepath.Join(r.dirs.Session(e.ID()), "ended")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the note of its end: %v", err)
			}
		})
	}
}

// TestRefusedRecordsAreTriedAgain checks that a rejected record or manifest is written without further action once
// there is space.
//
// FEATURES: R93
func TestRefusedRecordsAreTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, e := running(t, nil)
		room := refuses(t, r, "UPDATE")
		r.saveEnd(e, session.Status{State: session.Exited, Ended: time.Now(), Exit: &session.Exit{}})
		r.Flush(t.Context())
		time.Sleep(3 * retryqueue.RetryInterval)
		if recorded(t, r, e).State != string(session.Running) || !isKept(r, e) {
			t.Error("it is recorded without space")
		}
		room()
		time.Sleep(retryqueue.RetryInterval)
		synctest.Wait()
		if recorded(t, r, e).State != string(session.Exited) || isKept(r, e) {
			t.Error("it is not tried again")
		}
		if rec, err := store.ReadManifest(r.dirs.Session(e.ID())); err != nil || rec.State != string(session.Exited) {
			t.Errorf("its manifest: %+v, %v", rec, err)
		}
		if _, begin := r.retryQueue.Add(failedWrite{e: e}, struct{}{}); !begin {
			t.Error("nothing is unwritten, and writes are retried forever")
		}
	})
}

// TestKeeperKeepsAnEndThatIsNowhere checks that the keeper keeps a session's end that can be stored nowhere, until
// there is space.
//
// FEATURES: R90, R93
func TestKeeperKeepsAnEndThatIsNowhere(t *testing.T) {
	t.Parallel()
	r, e := running(t, nil)
	room := refuses(t, r, "UPDATE")
	dir := r.dirs.Session(e.ID())
	if err := os.Rename(dir, dir+".away"); err != nil { // so that no file can be created in it
		t.Fatal(err)
	}
	r.saveEnd(e, session.Status{State: session.Exited, Ended: time.Now(), Exit: &session.Exit{}})
	if r.isRecorded(t.Context(), e) {
		t.Error("it is let go")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if room(); r.isRecorded(gone, e) {
		t.Error("it was not waited for")
	}
	r.retryWrites()
	if !r.isRecorded(t.Context(), e) || recorded(t, r, e).State != string(session.Exited) {
		t.Error("it is not recorded once there is space")
	}
	if err := os.Rename(dir+".away", dir); err != nil {
		t.Fatal(err)
	}
}

// counting is a keeper that counts its requests.
type counting struct {
	deadKeeper
	asked atomic.Int32
}

func (k *counting) Retry(context.Context, func(*link.Link) error) error {
	k.asked.Add(1)
	return nil
}

// TestLetGoOnceRecorded checks that a session's keeper releases it once its end is recorded, or when its place is
// needed, and only once.
//
// FEATURES: R90, R93
func TestLetGoOnceRecorded(t *testing.T) {
	t.Parallel()
	for name, wanted := range map[string]bool{"recorded": false, "wanted": true} {
		k := &counting{}
		d := &device{id: "s", keeper: k, log: slog.New(slog.DiscardHandler), recorded: func(context.Context) bool { return false }}
		d.Release()
		d.releasing.Wait()
		if n := k.asked.Load(); n != 0 {
			t.Errorf("%s: let go %d times before", name, n)
		}
		if wanted {
			d.awaitRelease()
		}
		for range 2 {
			d.releaseHeld()
		}
		if n := k.asked.Load(); n != 1 {
			t.Errorf("%s: let go %d times", name, n)
		}
	}
}

// TestEditOnAFullDisk checks that a name or a label that cannot be stored is rejected, and nothing has changed.
//
// FEATURES: R93
func TestEditOnAFullDisk(t *testing.T) {
	t.Parallel()
	r := histories(t, "one")
	e, err := r.Resolve("one")
	if err != nil {
		t.Fatal(err)
	}
	room, name := refuses(t, r, "UPDATE"), "two"
	edit := api.Edit{Name: &name, Labels: map[string]string{"a": "b"}}
	var refused *api.Error
	if err := r.Edit(e, edit); !errors.As(err, &refused) || refused.Code != api.CodeStorage {
		t.Errorf("without space: %v", err)
	}
	if _, err := r.Resolve("two"); err == nil || e.Record().Name != "one" || len(e.Record().Labels) > 0 || isKept(r, e) {
		t.Errorf("it was refused, and has changed: %+v", e.Record())
	}
	if _, err := r.Resolve("one"); err != nil {
		t.Error(err)
	}
	room()
	if err := r.Edit(e, edit); err != nil {
		t.Error(err)
	}
	if rec := recorded(t, r, e); rec.Name != "two" || rec.Labels["a"] != "b" {
		t.Errorf("with space: %+v", rec)
	}
	if _, err := r.Resolve("one"); err == nil {
		t.Error("the old name is still in use")
	}
}

// isKept reports whether a session's record is unwritten.
func isKept(r *Registry, e *Handle) bool {
	_, kept := r.retryQueue.Get(failedWrite{e: e})
	return kept
}
