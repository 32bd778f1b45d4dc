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

// A running daemon is used; nothing is started.
func TestEnsureFindsTheDaemon(t *testing.T) {
	f, _ := newFake(t, says(api.Status{DaemonPID: 7}))
	c := newClient(t, f.dirs, noKeeper(t))
	if err := c.Ensure(testContext(t)); err != nil {
		t.Error(err)
	}
	if s, err := c.Status(testContext(t)); err != nil || s.DaemonPID != 7 {
		t.Errorf("%+v, %v", s, err)
	}
}

// A client that may not start a daemon names the command that does.
func TestNothingIsStarted(t *testing.T) {
	c := newClient(t, newDirs(t), nil)
	for _, err := range []error{c.Ensure(testContext(t)), drop(c.List(testContext(t)))} {
		if codeOf(err) != api.CodeUnavailable || !strings.Contains(err.Error(), "no daemon is running; start it with") {
			t.Error(err)
		}
	}
}

// However many clients find no daemon, one is started, and each gets its answer, even to requests that must not be
// repeated.
//
// FAULT: A23
func TestDaemonIsStartedOnce(t *testing.T) {
	f := &fake{t: t, dirs: newDirs(t)}
	f.answers = append(f.answers, says(api.Session{Name: "s"}))
	k := newKeeper(t, f.dirs, func() string {
		f.serve()
		return ""
	})
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			c := newClient(t, f.dirs, noKeeper(t))
			if s, err := c.NewSession(testContext(t), api.NewSession{}); err != nil || s.Name != "s" {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
	clients.Wait()
	if n := k.starts.Load(); n != 1 || len(f.requests()) != 8 {
		t.Errorf("started %d times, asked %d times", n, len(f.requests()))
	}
}

// A stream starts the daemon as well.
func TestStreamStartsTheDaemon(t *testing.T) {
	f := &fake{t: t, dirs: newDirs(t)}
	f.answers = append(f.answers, refuses(api.Errorf(api.CodeNotFound, "no session s")))
	k := newKeeper(t, f.dirs, func() string {
		f.serve()
		return ""
	})
	c := newClient(t, f.dirs, noKeeper(t))
	if _, err := c.Session("s").Attach(testContext(t), StreamOptions{}); codeOf(err) != api.CodeNotFound || k.starts.Load() != 1 {
		t.Errorf("%v after %d starts", err, k.starts.Load())
	}
}

// The error of a daemon that does not start has its last log lines, and the log's place.
func TestDaemonDoesNotStart(t *testing.T) {
	dirs := newDirs(t)
	newKeeper(t, dirs, func() string { return "it exited with 1 three times" })
	if err := os.WriteFile(dirs.KeeperLog(), []byte("longterm: the database is no database\ngoroutine 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := newClient(t, dirs, noKeeper(t)).Ensure(testContext(t))
	for _, want := range []string{"it exited with 1 three times", "(the database is no database)", dirs.DaemonLog(), dirs.KeeperLog()} {
		if codeOf(err) != api.CodeUnavailable || !strings.Contains(err.Error(), want) {
			t.Errorf("%v says nothing of %q", err, want)
		}
	}
}

// A killed keeper may hold its socket a moment longer: its successor gets the request.
func TestDyingKeeper(t *testing.T) {
	f := &fake{t: t, dirs: newDirs(t)}
	f.answers = append(f.answers, says(api.Status{}))
	k := newKeeper(t, f.dirs, func() string {
		f.serve()
		return ""
	})
	k.drops.Store(3)
	if err := newClient(t, f.dirs, noKeeper(t)).Ensure(testContext(t)); err != nil || k.starts.Load() != 1 {
		t.Errorf("%v after %d starts", err, k.starts.Load())
	}
}

// Without a keeper one is started in a separate process; the error of one that does not start is returned.
func TestKeeperIsLaunched(t *testing.T) {
	for how, want := range map[string]string{"refuses": "no room on this disk", "dies": "ended at its start"} {
		dirs := newDirs(t)
		err := newClient(t, dirs, asKeeper(how, dirs)).Ensure(testContext(t))
		if codeOf(err) != api.CodeUnavailable || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), dirs.KeeperLog()) {
			t.Errorf("%s: %v", how, err)
		}
	}
	dirs := newDirs(t)
	first := newClient(t, dirs, asKeeper("serves", dirs))
	s, err := first.Status(testContext(t))
	if err != nil || s.DaemonPID == os.Getpid() {
		t.Fatalf("%+v, %v", s, err)
	}
	t.Cleanup(func() { _ = syscall.Kill(s.DaemonPID, syscall.SIGKILL) })
	if again, err := newClient(t, dirs, noKeeper(t)).Status(testContext(t)); err != nil || again.DaemonPID != s.DaemonPID {
		t.Errorf("%+v, %v; want daemon %d", again, err, s.DaemonPID)
	}
}

// Directories that cannot be made are the storage's fault.
func TestNoDirectories(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dirs := paths.Dirs{Run: filepath.Join(file, "run"), State: filepath.Join(file, "state"), Config: file}
	if err := newClient(t, dirs, noKeeper(t)).Ensure(testContext(t)); codeOf(err) != api.CodeStorage {
		t.Error(err)
	}
}

// Each wait of a start ends with its context, and so does the call: for another client that starts a daemon, for a
// keeper that does not answer, for a missing socket.
func TestStartEndsWithItsContext(t *testing.T) {
	for _, c := range []struct {
		name  string
		begin func(t *testing.T, dirs paths.Dirs, waits chan struct{})
	}{
		{"another client starts it", func(t *testing.T, dirs paths.Dirs, waits chan struct{}) {
			unlock, err := lockFile(t.Context(), dirs.StartLock())
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
			if err := newClient(t, dirs, noKeeper(t)).Ensure(ctx); !interrupted(err, context.Canceled) {
				t.Error(err)
			}
			if err := drop(newClient(t, dirs, noKeeper(t)).List(ctx)); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
}

// A lock is held by one at a time, and given on.
func TestStartLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := lockFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan func(), 1)
	go func() {
		unlock, err := lockFile(t.Context(), path)
		if err != nil {
			t.Error(err)
		}
		got <- unlock
	}()
	select {
	case <-got:
		t.Fatal("two hold it")
	default:
	}
	unlock()
	(<-got)()
	if _, err := lockFile(t.Context(), filepath.Join(path, "x")); err == nil {
		t.Error("a lock in no directory")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	unlock, err = lockFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockFile(ctx, path); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	unlock()
	unlock, err = lockFile(t.Context(), path) // a canceled start holds nothing
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

// A client that waits or watches while longterm is ended with its sessions does not start it again, and gets an error;
// a later different request does.
//
// FEATURES: R90
func TestEndedOnPurposeIsNotStarted(t *testing.T) {
	f, _ := newFake(t)
	f.answers = []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
		if err := os.WriteFile(f.dirs.Stopped(), []byte(time.Now().Format(time.RFC3339Nano)), 0o600); err != nil {
			t.Error(err)
		}
		_ = os.Remove(f.dirs.Socket())
		dies("")(w, r)
	}}
	o := Options{Dirs: f.dirs, KeeperArgv: noKeeper(t), Build: func() string { return "test" }, OneVerb: true}
	waits := New(o)
	t.Cleanup(waits.Close)
	for _, err := range []error{
		drop(waits.AwaitJob(testContext(t), "j", AwaitHow{})), drop(waits.Run(testContext(t), api.Run{})), drop(waits.List(testContext(t))),
		waits.Events(testContext(t), func(api.Event) error { return nil }), waits.Ensure(testContext(t)),
	} {
		if codeOf(err) != api.CodeUnavailable || !strings.Contains(err.Error(), "longterm was ended") {
			t.Error(err)
		}
	}
	again := &fake{t: t, dirs: f.dirs}
	again.answers = append(again.answers, says(api.Status{DaemonPID: 7}))
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
		t.Errorf("%+v, %v", s, err)
	}
}

// The error of a daemon that does not start on a full disk names the disk and the remedy: its log had no space.
//
// FEATURES: R93
func TestNoRoomIsNamed(t *testing.T) {
	c := newClient(t, newDirs(t), nil)
	if err := c.noRoom(errors.New("it crashes")); err != nil {
		t.Errorf("there is room: %v", err)
	}
	err := c.noRoom(fmt.Errorf("open the log: %w", syscall.ENOSPC))
	if codeOf(err) != api.CodeUnavailable || !strings.Contains(err.Error(), "no space left on device; free space") {
		t.Error(err)
	}
	if !isFinal(err) || c.prepareRetry(testContext(t), newRetryPolicy(), err) {
		t.Error("it is tried again")
	}
}
