//go:build unix

package jobs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/authorize"
	"github.com/longterm-dev/longterm/session/daemon/liveconfig"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/policy/rulebook"
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

var (
	person = identity.Actor{UID: 1000}
	agent  = identity.Actor{UID: 1000, Agent: "bot"}
)

// house is the part of a daemon that jobs need: a database, rules, a gateway, and a registry that finds no keeper.
type house struct {
	*Set
	left sync.Once
}

// keeperless is a daemon that can start no process.
type keeperless struct{}

func (keeperless) KeeperFor(string) (registry.Keeper, error) {
	return nil, errors.New("no keeper can be started")
}
func (keeperless) OnCommand(*registry.Handle, *session.Command) {}
func (keeperless) IsStopping() bool                             { return false }
func (keeperless) Approvals(string) []string                    { return nil }
func (keeperless) OnRemoved(string)                             {}
func (keeperless) Notice(string, ...any)                        {}

type nowhere struct{}

func (nowhere) PublishApproval(string, *api.Approval) {}

// housed returns the jobs of a daemon with these directories. It loads the jobs that an earlier daemon left.
func housed(t *testing.T, dirs paths.Dirs) *house {
	t.Helper()
	if err := dirs.Make(); err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(dirs.Database())
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	conf := liveconfig.Open(dirs, log)
	book := rulebook.Open(rulebook.Options{File: dirs.PolicyFile()})
	gate, err := authorize.Open(t.Context(), authorize.Config{Rules: book, Author: book, Store: st, Bus: nowhere{}, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	reg := registry.New(registry.Config{Dirs: dirs, Log: log, Store: st, Settings: conf, Host: keeperless{}})
	h := &house{Set: New(reg, st, conf, log, gate)}
	if err := errors.Join(reg.Load(t.Context()), h.Load(t.Context())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.leave)
	return h
}

// leave is the end of a daemon that has a successor.
func (h *house) leave() {
	h.left.Do(func() {
		h.gate.MarkStopping()
		h.Close()
		h.reg.StopAll()
		_ = h.store.Close()
	})
}

func dirsIn(dir string) paths.Dirs {
	return paths.Dirs{Run: filepath.Join(dir, "r"), State: filepath.Join(dir, "s"), Config: filepath.Join(dir, "c")}
}

// script is a shell played by a test: input is recorded, and the test prints the output.
type script struct {
	t    *testing.T
	e    *registry.Handle
	ring *ring.Ring

	mu    sync.Mutex
	typed bytes.Buffer
	n     int // commands that have ended
}

func (d *script) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.typed.Write(p)
}

func (d *script) TryWrite(p []byte) int {
	n, _ := d.Write(p)
	return n
}

func (d *script) SetWriteDeadline(time.Time) error { return nil }
func (d *script) Resize(int, int) error            { return nil }
func (d *script) Resume()                          {}
func (d *script) Release()                         {}
func (d *script) Control(func(int) error) error    { return errors.New("no terminal") }

// says makes the fake shell print a text, and waits until all effects are done.
func (d *script) says(text string) {
	d.t.Helper()
	d.prints(text)
	synctest.Wait()
}

func (d *script) prints(text string) {
	for p := []byte(text); len(p) > 0; {
		n := copy(d.ring.Room(), p)
		d.ring.Publish(n)
		p = p[n:]
	}
	d.e.Session.NotifyOutput()
}

// prompts ends the running command, if any, and prints the next prompt.
func (d *script) prompts(exit int) {
	d.t.Helper()
	end := ""
	if d.n++; d.n > 1 {
		end = fmt.Sprintf("\x1b]133;D;%d;lt=n\a", exit)
	}
	d.says(fmt.Sprintf("%s\x1b]133;A;lt=n;n=%d;exit=%d\a$ \x1b]133;B;lt=n\a", end, d.n, exit))
}

// begins makes the fake shell echo a line and start it.
func (d *script) begins(line string) {
	d.t.Helper()
	d.says(line + "\r\n\x1b]133;C;lt=n\a")
}

// ends is the end of the shell itself.
func (d *script) ends(code int) {
	d.t.Helper()
	d.e.Session.Exited(session.Exit{Code: code, Time: time.Now()}, d.ring.Head())
	d.e.Session.Closed()
	synctest.Wait()
}

// got returns the input since the last call.
func (d *script) got() string {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.typed.Reset()
	return d.typed.String()
}

// shellIn is a session at its first prompt.
func (h *house) shellIn(t *testing.T, id string) *script {
	t.Helper()
	rec := store.Session{ID: id, Name: id, Argv: []string{"bash"}, Shell: true, Cwd: "/", State: "running", Cols: 80, Rows: 24, Keeper: "main"}
	if err := h.store.CreateSession(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	j, _, err := journal.Open(filepath.Join(dir, "journal"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := &script{t: t, e: registry.NewHandle(rec), ring: ring.Local(ring.DefaultSize)}
	d.e.Session, err = session.New(session.Config{
		ID: id, Dir: dir, Device: d, Ring: d.ring, Journal: j, Log: slog.New(slog.DiscardHandler),
		Options: vterm.Options{Cols: 80, Rows: 24}, Status: session.Status{State: session.Running, Cols: 80, Rows: 24},
		Shell: &shell.Launch{Kind: shell.Bash, Quality: shell.Full, Nonce: "n", StateDir: dir, Cwd: "/"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.e.Session.Stop)
	d.e.Session.Start()
	d.prompts(0)
	return d
}

// inHouse runs f with jobs and a shell, in time that passes only when all wait.
func inHouse(t *testing.T, f func(t *testing.T, h *house, sh *script)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := housed(t, dirsIn(t.TempDir()))
		f(t, h, h.shellIn(t, uuid.NewString())) // processes are found by the session's id: a unique one
	})
}

// answered holds a call's result, once it returns.
type answered struct {
	api.Result
	err  error
	done chan struct{}
}

// back reports whether the call has returned.
func (a *answered) back() bool {
	synctest.Wait()
	return isClosed(a.done)
}

// asked is a running call.
func asked(f func() (api.Result, error)) *answered {
	a := &answered{done: make(chan struct{})}
	go func() {
		defer close(a.done)
		a.Result, a.err = f()
	}()
	synctest.Wait()
	return a
}

func (h *house) exec(ctx context.Context, sh *script, x api.Exec) *answered {
	return asked(func() (api.Result, error) { return h.Exec(ctx, sh.e, x) })
}

func (h *house) run(ctx context.Context, x api.Run) *answered {
	return asked(func() (api.Result, error) { return h.Run(ctx, x) })
}

func codeOf(err error) api.Code {
	var e *api.Error
	if !errors.As(err, &e) {
		return ""
	}
	return e.Code
}

// retry reports whether the caller should repeat the call.
func (a *answered) retry() bool {
	var e *api.Error
	return errors.As(a.err, &e) && e.Retry
}
