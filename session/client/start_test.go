//go:build unix

package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/paths"
)

// TestEnsure_UsesRunningDaemon checks that a running daemon is used; no process is started.
func TestEnsure_UsesRunningDaemon(t *testing.T) {
	t.Parallel()
	f, _ := newFakeDaemon(t, repliesJSON(api.Status{DaemonPID: 7}))
	c := newClient(t, f.dirs, forbidKeeper(t))
	if err := c.Ensure(testContext(t)); err != nil {
		t.Error(err)
	}
	if s, err := c.Status(testContext(t)); err != nil || s.DaemonPID != 7 {
		t.Errorf("got session %+v, error %v", s, err)
	}
}

// TestEnsure_WithoutKeeper_NamesCommand checks that a client that must not start a daemon names the command that does.
func TestEnsure_WithoutKeeper_NamesCommand(t *testing.T) {
	t.Parallel()
	c := newClient(t, newDirs(t), nil)
	for _, err := range []error{c.Ensure(testContext(t)), ignoreResult(c.List(testContext(t)))} {
		if errorCode(err) != api.CodeUnavailable || !strings.Contains(err.Error(), "no daemon is running; start it with") {
			t.Error(err)
		}
	}
}

// TestDaemon_StartedOnce_ByManyClients checks that if several clients find no daemon, one is started. Each client gets
// its response, even to requests that must not be retried.
// FAULT: A23
func TestDaemon_StartedOnce_ByManyClients(t *testing.T) {
	t.Parallel()
	f := &fakeDaemon{t: t, dirs: newDirs(t)}
	f.handlers = append(f.handlers, repliesJSON(api.Session{Name: "s"}))
	k := newKeeper(t, f.dirs, func() string {
		f.serve()
		return ""
	})
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			c := newClient(t, f.dirs, forbidKeeper(t))
			if s, err := c.NewSession(testContext(t), api.NewSession{}); err != nil || s.Name != "s" {
				t.Errorf("got session %+v, error %v", s, err)
			}
		})
	}
	clients.Wait()
	if n := k.starts.Load(); n != 1 || len(f.requests()) != 8 {
		t.Errorf("got %d starts, %d requests", n, len(f.requests()))
	}
}

// TestStream_StartsDaemon checks that a stream starts the daemon too.
func TestStream_StartsDaemon(t *testing.T) {
	t.Parallel()
	f := &fakeDaemon{t: t, dirs: newDirs(t)}
	f.handlers = append(f.handlers, rejects(api.Errorf(api.CodeNotFound, "no session s")))
	k := newKeeper(t, f.dirs, func() string {
		f.serve()
		return ""
	})
	c := newClient(t, f.dirs, forbidKeeper(t))
	if _, err := c.Session("s").Attach(testContext(t), StreamOptions{}); errorCode(err) != api.CodeNotFound || k.starts.Load() != 1 {
		t.Errorf("got error %v after %d starts", err, k.starts.Load())
	}
}

// TestEnsure_DaemonFails_ErrorHasLog checks that the error of a daemon that does not start has its last log lines and
// the path of the log.
func TestEnsure_DaemonFails_ErrorHasLog(t *testing.T) {
	t.Parallel()
	dirs := newDirs(t)
	newKeeper(t, dirs, func() string { return "it exited with 1 three times" })
	if err := os.WriteFile(dirs.KeeperLog(), []byte("longterm: the database is no database\ngoroutine 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := newClient(t, dirs, forbidKeeper(t)).Ensure(testContext(t))
	for _, want := range []string{"it exited with 1 three times", "(the database is no database)", dirs.DaemonLog(), dirs.KeeperLog()} {
		if errorCode(err) != api.CodeUnavailable || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %q in it", err, want)
		}
	}
}

// TestEnsure_WaitsForDyingKeeper checks that a killed keeper may hold its socket for a moment. Its successor gets the
// request.
func TestEnsure_WaitsForDyingKeeper(t *testing.T) {
	t.Parallel()
	f := &fakeDaemon{t: t, dirs: newDirs(t)}
	f.handlers = append(f.handlers, repliesJSON(api.Status{}))
	k := newKeeper(t, f.dirs, func() string {
		f.serve()
		return ""
	})
	k.dropsLeft.Store(3)
	if err := newClient(t, f.dirs, forbidKeeper(t)).Ensure(testContext(t)); err != nil || k.starts.Load() != 1 {
		t.Errorf("got error %v after %d starts", err, k.starts.Load())
	}
}

// TestEnsure_StartsKeeper checks that without a keeper one is started in a separate process. The error of one that does
// not start is returned.
func TestEnsure_StartsKeeper(t *testing.T) {
	t.Parallel()
	for how, want := range map[string]string{"refuses": "no room on this disk", "dies": "ended at its start"} {
		dirs := newDirs(t)
		err := newClient(t, dirs, keeperArgv(how, dirs)).Ensure(testContext(t))
		if errorCode(err) != api.CodeUnavailable || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), dirs.KeeperLog()) {
			t.Errorf("%s: %v", how, err)
		}
	}
	dirs := newDirs(t)
	first := newClient(t, dirs, keeperArgv("serves", dirs))
	s, err := first.Status(testContext(t))
	if err != nil || s.DaemonPID == os.Getpid() {
		t.Fatalf("%+v, %v", s, err)
	}
	t.Cleanup(func() { _ = syscall.Kill(s.DaemonPID, syscall.SIGKILL) })
	if again, err := newClient(t, dirs, forbidKeeper(t)).Status(testContext(t)); err != nil || again.DaemonPID != s.DaemonPID {
		t.Errorf("%+v, %v; want daemon %d", again, err, s.DaemonPID)
	}
}

// TestEnsure_DirectoriesFail checks that directories that cannot be created are a storage error.
func TestEnsure_DirectoriesFail(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dirs := paths.Dirs{Run: filepath.Join(file, "run"), State: filepath.Join(file, "state"), Config: file}
	if err := newClient(t, dirs, forbidKeeper(t)).Ensure(testContext(t)); errorCode(err) != api.CodeStorage {
		t.Error(err)
	}
}

// TestEnsure_EndsWithContext checks that each wait of a start ends with its context, and so does the call: for another
// client that starts a daemon, for a keeper that does not answer, for a missing socket.
func TestEnsure_EndsWithContext(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		begin func(t *testing.T, dirs paths.Dirs, waits chan struct{})
	}{
		{"another client starts it", func(t *testing.T, dirs paths.Dirs, waits chan struct{}) {
			unlock, err := acquireLock(t.Context(), dirs.StartLock())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(unlock)
			close(waits)
		}},
		{"the keeper does not answer", func(t *testing.T, dirs paths.Dirs, waits chan struct{}) {
			over := make(chan struct{})
			newKeeper(t, dirs, func() string {
				close(waits)
				<-over
				return ""
			})
			t.Cleanup(func() { close(over) })
		}},
		{"there is no socket", func(t *testing.T, dirs paths.Dirs, waits chan struct{}) {
			newKeeper(t, dirs, func() string {
				close(waits)
				return ""
			})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dirs, waits := newDirs(t), make(chan struct{})
			c.begin(t, dirs, waits)
			ctx, cancel := context.WithCancel(testContext(t))
			go func() {
				<-waits
				cancel()
			}()
			if err := newClient(t, dirs, forbidKeeper(t)).Ensure(ctx); !isContextError(err, context.Canceled) {
				t.Error(err)
			}
			if err := ignoreResult(newClient(t, dirs, forbidKeeper(t)).List(ctx)); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
}

// TestAcquireLock checks that a lock has one holder at a time, and passes to the next.
func TestAcquireLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := acquireLock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan func(), 1)
	go func() {
		unlock, err := acquireLock(t.Context(), path)
		if err != nil {
			t.Error(err)
		}
		got <- unlock
	}()
	select {
	case <-got:
		t.Fatal("a second client holds the lock")
	default:
	}
	unlock()
	(<-got)()
	if _, err := acquireLock(t.Context(), filepath.Join(path, "x")); err == nil {
		t.Error("lock in a missing directory: got no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	unlock, err = acquireLock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := acquireLock(ctx, path); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	unlock()
	unlock, err = acquireLock(t.Context(), path) // a canceled start holds nothing
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

// TestClient_DoesNotRestart_AfterStopOnPurpose checks that a client that waits or watches while the user stops longterm
// with its sessions does not start it again, and gets an error. A later request of another client does.
// FEATURES: R90
func TestClient_DoesNotRestart_AfterStopOnPurpose(t *testing.T) {
	t.Parallel()
	f, _ := newFakeDaemon(t)
	f.handlers = []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
		if err := os.WriteFile(f.dirs.Stopped(), []byte(time.Now().Format(time.RFC3339Nano)), 0o600); err != nil {
			t.Error(err)
		}
		_ = os.Remove(f.dirs.Socket())
		disconnects("")(w, r)
	}}
	o := Options{Dirs: f.dirs, KeeperArgv: forbidKeeper(t), Build: func() string { return "test" }, IsOneCommand: true}
	waits := New(o)
	t.Cleanup(waits.Close)
	for _, err := range []error{
		ignoreResult(waits.AwaitJob(testContext(t), "j", AwaitOptions{})), ignoreResult(waits.Run(testContext(t), api.Run{})), ignoreResult(waits.List(testContext(t))),
		waits.Events(testContext(t), func(api.Event) error { return nil }), waits.Ensure(testContext(t)),
	} {
		if errorCode(err) != api.CodeUnavailable || !strings.Contains(err.Error(), "longterm was ended") {
			t.Error(err)
		}
	}
	again := &fakeDaemon{t: t, dirs: f.dirs}
	again.handlers = append(again.handlers, repliesJSON(api.Status{DaemonPID: 7}))
	k := newKeeper(t, f.dirs, func() string {
		again.serve()
		return ""
	})
	later := New(o)
	t.Cleanup(later.Close)
	if s, err := later.Status(testContext(t)); err != nil || s.DaemonPID != 7 || k.starts.Load() != 1 {
		t.Errorf("%+v, %v after %d starts", s, err, k.starts.Load())
	}
	if s, err := waits.Status(testContext(t)); err != nil || s.DaemonPID != 7 {
		t.Errorf("got session %+v, error %v", s, err)
	}
}

// TestEnsure_DiskFull_NamesDisk checks that the error of a daemon that cannot start on a full disk names the disk and
// the remedy: its log had no space.
// FEATURES: R93
func TestEnsure_DiskFull_NamesDisk(t *testing.T) {
	t.Parallel()
	c := newClient(t, newDirs(t), nil)
	if err := c.diskFullError(errors.New("it crashes")); err != nil {
		t.Errorf("disk with free space: got error %v", err)
	}
	err := c.diskFullError(fmt.Errorf("open the log: %w", syscall.ENOSPC))
	if errorCode(err) != api.CodeUnavailable || !strings.Contains(err.Error(), "no space left on device; free space") {
		t.Error(err)
	}
	if !isPermanent(err) || c.prepareRetry(testContext(t), newRetryPolicy(), err) {
		t.Error("the client retries after the error")
	}
}
