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

// grace is how long each rung of the kill ladder has to work.
func (d *Daemon) grace() time.Duration { return d.conf.get().Exec.Grace }

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

// rung is a step of the kill ladder.
type rung struct {
	sig   syscall.Signal
	scope string
	wait  bool // give it its share of the grace to work
}

// ladder is Ctrl-C (SIGINT to the foreground), then SIGHUP and SIGTERM to everything, then
// SIGKILL. SIGHUP is what a closing terminal says; interactive shells ignore SIGTERM. The
// first two steps share the grace.
var ladder = []rung{
	{syscall.SIGINT, wire.ScopeForeground, true},
	{syscall.SIGHUP, wire.ScopeAll, false},
	{syscall.SIGTERM, wire.ScopeAll, true},
	{syscall.SIGKILL, wire.ScopeAll, false},
}

// kill ends a session's process and all its descendants by the kill ladder. It returns
// once the end is recorded, which takes little more than the grace.
func (h *hub) kill(ctx context.Context, e *entry, grace time.Duration) error {
	defer sweep(e)
	if e.dev == nil || e.s.Status().State != session.Running {
		return nil
	}
	l := e.dev.keeper.link()
	descendants := processesOf(e.s.Status().PID, e.s.ID())
	defer func() { signalProcesses(descendants, syscall.SIGKILL) }() // whoever survived its parent
	for _, r := range ladder {
		err := l.Signal(ctx, e.s.ID(), r.sig, r.scope)
		if r.sig != syscall.SIGINT {
			signalProcesses(descendants, r.sig)
		}
		if errors.Is(err, link.ErrNotFound) {
			break // it ended by itself, and was let go, before this rung
		}
		if err != nil && r.scope != wire.ScopeForeground {
			return fmt.Errorf("signal: %w", err)
		}
		if r.wait && h.endsWithin(ctx, e, grace/2) {
			return nil
		}
	}
	if !h.endsWithin(ctx, e, 5*time.Second) {
		return api.Errorf(api.CodeTimeout, "process %d did not end by SIGKILL", e.s.Status().PID).
			WithHint("it hangs in the kernel; see `ps -o stat,wchan %d`", e.s.Status().PID)
	}
	return nil
}

// endsWithin waits for the process's end.
func (h *hub) endsWithin(ctx context.Context, e *entry, d time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	_, err := e.s.Wait(ctx, session.WaitFor{Conds: []session.Cond{{Kind: session.CondExit}}})
	return err == nil
}

// sweepRounds bounds looking for processes that were born while others were killed.
const sweepRounds = 5

// sweep kills what a session left behind: everybody in its cgroup, else the processes that
// still carry its mark.
func sweep(e *entry) {
	killCgroup(e)
	for range sweepRounds {
		left := processesOf(0, e.s.ID())
		if len(left) == 0 {
			return
		}
		signalProcesses(left, syscall.SIGKILL)
	}
}

// process is one of the system's; a pid is used again, with another start.
type process struct {
	pid   int
	start string // field 22 of /proc/PID/stat
}

// processesOf finds a session's processes: children of pid, and theirs, and every
// process whose environment carries the session's id, wherever it moved itself.
func processesOf(pid int, id string) []process {
	parents, starts := map[int]int{}, map[int]string{}
	var found []process
	mark := []byte("LONGTERM_SESSION=" + id)
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		p, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || p == os.Getpid() {
			continue
		}
		parents[p], starts[p] = statOf(p)
		if env, err := os.ReadFile(filepath.Join(dir, "environ")); err == nil && hasVar(env, mark) {
			found = append(found, process{p, starts[p]})
		}
	}
	for p := range parents {
		for up, depth := p, 0; pid > 0 && up > 1 && depth < 64; up, depth = parents[up], depth+1 {
			if parents[up] == pid {
				found = append(found, process{p, starts[p]})
				break
			}
		}
	}
	return found
}

// descendantsOf is processesOf without their starts.
func descendantsOf(pid int, id string) []int {
	var pids []int
	for _, p := range processesOf(pid, id) {
		pids = append(pids, p.pid)
	}
	return pids
}

func hasVar(environ, mark []byte) bool {
	for _, kv := range strings.Split(string(environ), "\x00") {
		if kv == string(mark) {
			return true
		}
	}
	return false
}

// statOf reads fields 4 and 22 of /proc/PID/stat: parent and start.
func statOf(pid int) (parent int, start string) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, ""
	}
	stat := string(data)
	f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(f) < 20 {
		return 0, ""
	}
	parent, _ = strconv.Atoi(f[1])
	return parent, f[19]
}

func signalProcesses(procs []process, sig syscall.Signal) {
	for _, p := range procs {
		if _, start := statOf(p.pid); start == p.start && start != "" {
			_ = syscall.Kill(p.pid, sig) // gone already is fine
		}
	}
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
		if err := h.kill(ctx, e, h.d.grace()); err != nil {
			return err
		}
	}
	view := h.describe(e, e.s.Status())
	h.hide(e)
	e.s.Stop()
	if e.dev != nil { // first of all: what a keeper has and nobody knows of comes back
		e.dev.released()
	}
	err := errors.Join(h.d.store.DeleteSession(ctx, e.s.ID()), h.removeDir(e), h.index.forget(ctx, e.s.ID()))
	h.drop(e)
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
	h.dropState(e.s.ID())
	h.forgotten.Store(true)
	return removeSessionDir(h.d.cfg.Dirs.Session(e.s.ID()))
}

// rereadGrace is how long a temporary session stays for whoever was told how to read what
// its answer left out.
const rereadGrace = 15 * time.Minute

// removeEnded removes a temporary session that ended with nobody looking.
func (h *hub) removeEnded(e *entry) {
	if h.byID(e.rec.ID) != e || !e.temporary() { // removed, or kept, meanwhile
		return
	}
	if e.cut.Swap(false) {
		time.AfterFunc(rereadGrace, func() { h.removeEnded(e) })
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := h.remove(ctx, e, false); err != nil {
		h.d.log.Error("remove a temporary session", "session", e.s.ID(), "err", err)
	}
}
