//go:build unix

package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/session/keeper/wire"
)

// defaultGrace is how long each rung of the kill ladder has to work.
const defaultGrace = 200 * time.Millisecond

// parseSignal reads a signal's name, with or without SIG, or its number.
func parseSignal(s string) (syscall.Signal, error) {
	if n, err := strconv.Atoi(s); err == nil && n > 0 && n < 65 {
		return syscall.Signal(n), nil
	}
	name := strings.ToUpper(s)
	if !strings.HasPrefix(name, "SIG") {
		name = "SIG" + name
	}
	if n := unix.SignalNum(name); n != 0 {
		return n, nil
	}
	return 0, api.Errorf(api.CodeInvalid, "no signal %q", s).WithHint("use a name such as INT, TERM or KILL, or a number from 1 to 64")
}

func nameOfSignal(n int) string { return unix.SignalName(syscall.Signal(n)) }

// signal sends one signal.
func (h *hub) signal(ctx context.Context, e *entry, req api.Signal) error {
	sig, err := parseSignal(req.Signal)
	if err != nil {
		return err
	}
	if e.dev == nil || e.s.Status().State != session.Running {
		return ended(e)
	}
	scope := req.Scope
	if scope == "" {
		scope = wire.ScopeForeground
	}
	if err := e.dev.keeper.link().Signal(ctx, e.s.ID(), sig, scope); err != nil {
		return api.Errorf(api.CodeUnavailable, "signal %s: %v", req.Signal, err)
	}
	return nil
}

func ended(e *entry) error {
	return api.Errorf(api.CodeEnded, "session %s has ended", e.record().Name).
		WithHint("its screen and output can still be read")
}

// kill ends a session's process and all its descendants by the kill ladder: Ctrl-C
// (SIGINT to the foreground), SIGTERM to everything, SIGKILL to everything. It
// returns once the end is recorded.
func (h *hub) kill(ctx context.Context, e *entry, grace time.Duration) error {
	if e.dev == nil || e.s.Status().State != session.Running {
		sweep(e)
		return nil
	}
	l := e.dev.keeper.link()
	rungs := []struct {
		sig   syscall.Signal
		scope string
	}{
		{syscall.SIGINT, wire.ScopeForeground},
		{syscall.SIGHUP, wire.ScopeAll}, // what a closing terminal says; interactive shells ignore TERM
		{syscall.SIGTERM, wire.ScopeAll},
		{syscall.SIGKILL, wire.ScopeAll},
	}
	descendants := descendantsOf(e.s.Status().PID, e.s.ID())
	for _, r := range rungs {
		err := l.Signal(ctx, e.s.ID(), r.sig, r.scope)
		if r.sig != syscall.SIGINT {
			signalAll(descendants, r.sig)
		}
		if errors.Is(err, link.ErrNotFound) {
			break // it ended by itself, and was let go, before this rung
		}
		if err != nil && r.scope != wire.ScopeForeground {
			return fmt.Errorf("signal: %w", err)
		}
		if h.endsWithin(ctx, e, grace) {
			break
		}
	}
	if !h.endsWithin(ctx, e, 5*time.Second) {
		return api.Errorf(api.CodeTimeout, "process %d did not end by SIGKILL", e.s.Status().PID).
			WithHint("it hangs in the kernel; see `ps -o stat,wchan %d`", e.s.Status().PID)
	}
	sweep(e)
	return nil
}

// endsWithin waits for the process's end.
func (h *hub) endsWithin(ctx context.Context, e *entry, d time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	_, err := e.s.Wait(ctx, session.WaitFor{Conds: []session.Cond{{Kind: session.CondExit}}})
	return err == nil
}

// sweep kills what a session left behind: processes that still carry its mark.
func sweep(e *entry) { signalAll(descendantsOf(0, e.s.ID()), syscall.SIGKILL) }

// descendantsOf finds a session's processes: children of pid, and theirs, and every
// process whose environment carries the session's id, wherever it moved itself.
func descendantsOf(pid int, id string) []int {
	parents := map[int]int{}
	var found []int
	mark := []byte("LONGTERM_SESSION=" + id)
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		p, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || p == os.Getpid() {
			continue
		}
		parents[p] = parentOf(dir)
		if env, err := os.ReadFile(filepath.Join(dir, "environ")); err == nil && hasVar(env, mark) {
			found = append(found, p)
		}
	}
	for p := range parents {
		for up, depth := p, 0; pid > 0 && up > 1 && depth < 64; up, depth = parents[up], depth+1 {
			if parents[up] == pid {
				found = append(found, p)
				break
			}
		}
	}
	return found
}

func hasVar(environ, mark []byte) bool {
	for _, kv := range strings.Split(string(environ), "\x00") {
		if kv == string(mark) {
			return true
		}
	}
	return false
}

// parentOf reads field 4 of /proc/PID/stat.
func parentOf(dir string) int {
	data, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return 0
	}
	stat := string(data)
	f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(f) < 2 {
		return 0
	}
	ppid, _ := strconv.Atoi(f[1])
	return ppid
}

func signalAll(pids []int, sig syscall.Signal) {
	for _, p := range pids {
		_ = syscall.Kill(p, sig) // gone already is fine
	}
}

// remove forgets a session: process (only with force), record and history.
func (h *hub) remove(ctx context.Context, e *entry, force bool) error {
	if e.s.Status().State == session.Running {
		if !force {
			return api.Errorf(api.CodeRunning, "session %s is running", e.record().Name).
				WithHint("end it first with `longterm kill`, or remove it with --force")
		}
		if err := h.kill(ctx, e, defaultGrace); err != nil {
			return err
		}
	}
	view := h.describe(e, e.s.Status())
	h.drop(e)
	e.s.Stop()
	if e.dev != nil {
		e.dev.Release()
	}
	err := errors.Join(h.d.store.DeleteSession(ctx, e.s.ID()), h.removeDir(e), h.index.forget(ctx, e.s.ID()))
	h.bus.publish("removed", &view)
	if err != nil {
		return api.Errorf(api.CodeStorage, "remove session %s: %v", e.record().Name, err)
	}
	return nil
}

func (h *hub) removeDir(e *entry) error {
	e.manifest.Lock()
	defer e.manifest.Unlock()
	e.removed = true
	return os.RemoveAll(h.d.cfg.Dirs.Session(e.s.ID()))
}

// removeEnded removes a temporary session that ended with nobody looking.
func (h *hub) removeEnded(e *entry) {
	if h.byID(e.rec.ID) != e || !e.temporary() { // removed, or kept, meanwhile
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := h.remove(ctx, e, false); err != nil {
		h.d.log.Error("remove a temporary session", "session", e.s.ID(), "err", err)
	}
}
