//go:build unix

package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/inputdetect"
	"github.com/longterm-dev/longterm/session/internal/killladder"
	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/store"
)

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

// nameOfSignal returns a signal's name without SIG.
func nameOfSignal(n int) string { return unix.SignalName(syscall.Signal(n)) }

// Signal sends one signal.
func (h *Registry) Signal(ctx context.Context, e *Handle, req api.Signal) error {
	sig, err := parseSignal(req.Signal)
	if err != nil {
		return err
	}
	if e.device == nil || e.Session.Status().State != session.Running {
		return endedError(e)
	}
	scope := req.Scope
	if scope == "" {
		scope = wire.ScopeForeground
	}
	if err := e.device.keeper.Link().Signal(ctx, e.Session.ID(), sig, scope); err != nil {
		return api.Errorf(api.CodeUnavailable, "signal %s: %v", req.Signal, err)
	}
	return nil
}

// endedError returns the error for a session that has ended.
func endedError(e *Handle) error {
	return api.Errorf(api.CodeEnded, "session %s has ended", e.Record().Name).
		WithHint("its screen and output can still be read")
}

// Kill ends a session's process and all its descendants by the kill ladder. It returns once the end is known, which
// takes up to the grace of each step.
func (h *Registry) Kill(ctx context.Context, e *Handle, grace time.Duration) error {
	defer h.sweep(e)
	return h.end(ctx, e, grace, h.scanner.scan)
}

// KillEach kills several sessions in parallel. It returns their errors in the order of the list.
func (h *Registry) KillEach(ctx context.Context, list []*Handle, grace time.Duration) []error {
	defer h.sweep(list...)
	errs := make([]error, len(list))
	// One process listing serves all, before anything else: later, among the ending processes, its thousands of system
	// calls would wait.
	look := sync.OnceValue(h.scanner.scan)
	var all sync.WaitGroup
	for i, e := range list {
		all.Go(func() { errs[i] = h.end(ctx, e, grace, look) })
	}
	all.Wait()
	return errs
}

// Lives reports whether a session has a process, its own or a leftover, or is about to be restarted.
func (h *Registry) Lives(e *Handle) bool {
	return e.Session.Status().State == session.Running || h.restarts.isPending(e) || len(h.RecordLeftoversOnce(e)) > 0
}

// end kills a session except for its leftovers. scan lists all processes, before the first signal.
func (h *Registry) end(ctx context.Context, e *Handle, grace time.Duration, scan func() *sys.Table) error {
	waits := h.restarts.isPending(e)
	e.endRequested.Store(true) // where it has ended, too: it may be about to be started again
	if waits {                 // the next daemon is not to start it either
		h.Save(e, func(r *store.Session) { r.Stopped = true })
	}
	if e.device == nil || e.Session.Status().State != session.Running {
		h.killLeftovers(e, grace)
		return nil
	}
	pid, known := e.Session.Status().PID, processesAmong(scan(), e)
	defer func() { sys.SignalAll(known, syscall.SIGKILL) }() // processes that survived and are no longer found
	ended, err := killladder.Climb(ctx, killladder.SessionSteps(grace), &sessionTarget{h: h, e: e, known: known, all: known, fresh: true})
	if err == nil && !ended {
		return e.endError(ctx, pid, known)
	}
	if err != nil && e.Session.Status().State == session.Running { // it continues as if never signaled
		e.endRequested.Store(false)
	}
	return err
}

// drainTimeout limits reading the remaining output of an ended process: after a daemon's crash thousands of sessions
// may have much to read.
const drainTimeout = 2 * time.Minute

// endError returns why the end of a killed process was not recorded in time: it lives, or its output is still being
// read. It returns nil if the end arrives now.
func (e *Handle) endError(ctx context.Context, pid int, known []sys.Process) error {
	if slices.ContainsFunc(known, func(p sys.Process) bool { return p.PID == pid && p.IsAlive() }) {
		return api.Errorf(api.CodeTimeout, "process %d did not end by SIGKILL", pid).
			WithHint("it hangs in the kernel; see `ps -o stat,wchan %d`", pid)
	}
	if e.endsWithin(ctx, drainTimeout) {
		return nil
	}
	return api.Errorf(api.CodeTimeout, "process %d has ended, but its output is still being read", pid).
		WithHint("the session ends after that; `longterm wait %s --for exit` waits for it", e.Record().Name)
}

// sessionTarget is a session's processes, for the kill ladder.
type sessionTarget struct {
	h        *Registry
	e        *Handle
	known    []sys.Process // processes before the first step
	all      []sys.Process // processes at the last scan
	fresh    bool          // no wait has passed since that scan
	signaled []sys.Process // processes that got the last step's signal
	handlers []sys.Process // signaled processes that do not ignore it
}

// Send implements killladder.Target.
func (t *sessionTarget) Send(ctx context.Context, s killladder.Step) (killladder.SendResult, error) {
	if s.Signal == syscall.SIGINT && t.e.isAtPrompt() {
		return killladder.Ignored, nil // nothing to interrupt
	}
	if !t.fresh && !s.Foreground {
		t.all, t.fresh = t.h.processesOf(t.e), true
	}
	var err error
	if s.Foreground {
		t.signaled = inGroup(t.all, t.e.device.foreground())
	}
	t.handlers = t.handlersOf(s.Signal) // before the signal, which may end them
	sent, err := t.h.sendAll(ctx, t.e, s, t.all, len(t.known) > 0)
	if !s.Foreground {
		t.signaled = sent
	}
	switch {
	case errors.Is(err, link.ErrNotFound):
		return killladder.Exiting, nil // it ended by itself, and was let go, before this step
	case err != nil && !s.Foreground:
		return killladder.Delivered, fmt.Errorf("signal: %w", err)
	case len(t.signaled) > 0 && len(t.handlers) == 0:
		return killladder.Ignored, nil
	}
	return killladder.Delivered, nil
}

// handlersOf returns the receivers of a signal that do not ignore it, without a sandbox's helpers, and without a shell at its prompt
// for TERM: it handles TERM, but does not exit.
func (t *sessionTarget) handlersOf(sig syscall.Signal) []sys.Process {
	procs, without := t.all, t.e.sandboxHelpers()
	switch {
	case sig == syscall.SIGINT:
		procs = t.signaled
	case sig == syscall.SIGTERM && t.e.isAtPrompt():
		without = append(without, t.e.Session.Leader())
	}
	return slices.DeleteFunc(slices.Clone(procs), func(p sys.Process) bool { return slices.Contains(without, p.PID) || p.IgnoresSignal(sig) })
}

// sandboxHelpers returns the processes above the session's own program. They forward signals to it and exit like it.
func (e *Handle) sandboxHelpers() (pids []int) {
	started := e.Session.Status().PID
	for pid := e.Session.Leader(); pid != started; {
		st, err := sys.ReadStat(pid)
		if err != nil || st.Parent <= 1 {
			return nil
		}
		pid = st.Parent
		pids = append(pids, pid)
	}
	return pids
}

// inGroup returns the processes that are in a process group.
func inGroup(procs []sys.Process, group int) []sys.Process {
	return slices.DeleteFunc(slices.Clone(procs), func(p sys.Process) bool {
		st, err := sys.ReadStat(p.PID)
		return err != nil || st.Group != group
	})
}

// Await implements killladder.Target. Leftover processes get the grace too; killed ones are not awaited here.
func (t *sessionTarget) Await(ctx context.Context, s killladder.Step) bool {
	until := time.Now().Add(s.Grace)
	t.fresh = false
	waiting, stop := context.WithTimeout(ctx, s.Grace)
	defer stop()
	var watch sync.WaitGroup
	if !s.IsLast() && len(t.handlers) > 0 {
		watch.Go(func() { t.stopWhenHandled(waiting, stop, s) })
	}
	ended := t.e.endsWithin(waiting, s.Grace)
	stop()
	if watch.Wait(); !ended {
		return false
	}
	switch {
	case s.Signal == syscall.SIGINT:
		t.h.killLeftovers(t.e, s.Grace, t.known...)
	case !s.IsLast():
		awaitEnd(t.handlers, time.Until(until))
	}
	return true
}

// maxLeftPoll is the longest interval between checks whether processes that got a signal have exited.
const maxLeftPoll = 50 * time.Millisecond

// questionGrace is how long a program that waits for input may take to act on an interrupt.
const questionGrace = 2 * time.Second

// stopWhenHandled calls stop once all processes that handle the step's signal have exited, or are a shell at its prompt, while the
// session's own process lives, for example a shell whose job was interrupted. It also calls stop if the program needs input
// questionGrace after an interrupt that did not end it.
func (t *sessionTarget) stopWhenHandled(ctx context.Context, stop func(), s killladder.Step) {
	began, sent := time.Now(), time.Now()
	for wait := leftPoll; ; wait = min(2*wait, maxLeftPoll) {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		st := t.e.Session.Status()
		if !t.isAlive(st.PID) || !t.isAlive(t.e.Session.Leader()) { // its end is about to be published
			return
		}
		asks := s.Signal == syscall.SIGINT && st.Needs.Kind != inputdetect.None && time.Since(began) >= questionGrace
		left := sys.FilterAlive(t.handlers)
		if s.LeavesShell() && t.e.isAtPrompt() { // it may have reached the prompt after the signal, and stays there
			left = slices.DeleteFunc(left, func(p sys.Process) bool { return p.PID == t.e.Session.Leader() })
		}
		if after := s.RepeatAfter(); after > 0 && time.Since(sent) >= after && t.e.isAtPrompt() {
			sent = time.Now()
			signalPID(left, t.e.Session.Leader(), s.Signal)
		}
		if asks || len(left) == 0 {
			stop()
			return
		}
	}
}

// signalPID signals the process of a list that has the given pid, if it still lives.
func signalPID(list []sys.Process, pid int, sig syscall.Signal) {
	for _, p := range list {
		if p.PID == pid {
			p.Signal(sig)
		}
	}
}

// isAlive reports whether a process of the session is alive.
func (t *sessionTarget) isAlive(pid int) bool {
	i := slices.IndexFunc(t.all, func(p sys.Process) bool { return p.PID == pid })
	return i >= 0 && t.all[i].IsAlive()
}

// killTimeout is how long the kernel may take to carry out a SIGKILL.
const killTimeout = 15 * time.Second

// isAtPrompt reports whether the session's shell waits for a line.
func (e *Handle) isAtPrompt() bool {
	st := e.Session.Status()
	return st.Shell.Phase == shell.PhasePrompt && st.Shell.Quality != shell.None && e.device.foreground() == e.Session.Leader()
}

// sendAll sends a step's signal to all of the session's processes and returns the receivers if they are known. seen
// means that all is complete.
func (h *Registry) sendAll(ctx context.Context, e *Handle, step killladder.Step, all []sys.Process, seen bool) ([]sys.Process, error) {
	l := e.device.keeper.Link()
	if step.Foreground {
		return nil, l.Signal(ctx, e.Session.ID(), step.Signal, wire.ScopeForeground)
	}
	scope := wire.ScopeAll
	if (seen || len(all) > 0) && e.device.cgroup == "" {
		scope = wire.ScopeGroup // the keeper would look through all processes, too
	}
	err := l.Signal(ctx, e.Session.ID(), step.Signal, scope)
	own := e.Session.Status().PID
	sys.SignalAll(slices.DeleteFunc(slices.Clone(all), func(p sys.Process) bool { return p.PID == own }), step.Signal) // its own got it
	return all, err
}

// endsWithin waits for the process's end.
func (e *Handle) endsWithin(ctx context.Context, d time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	_, err := e.Session.Wait(ctx, session.WaitSpec{Conds: []session.Cond{{Kind: session.CondExit}}})
	return err == nil
}

// sweepRounds bounds the searches for processes that started while others were killed.
const sweepRounds = 5

// sweep kills the leftovers of sessions: all processes in their cgroups and those that carry their marks. One process
// listing serves all sessions.
func (h *Registry) sweep(list ...*Handle) {
	for _, e := range list {
		killCgroup(e)
	}
	var seen *sys.Table
	for range sweepRounds {
		var left []sys.Process
		seen = h.scanner.scan()
		for _, e := range list {
			left = append(left, sys.FilterAlive(seen.SessionProcesses(0, e.Session.ID()))...)
		}
		if len(left) == 0 {
			break
		}
		sys.SignalAll(left, syscall.SIGKILL)
		awaitEnd(left, killTimeout)
	}
	for _, e := range list {
		h.recordLeftovers(e, func() []sys.Process { return seen.SessionProcesses(0, e.Session.ID()) })
	}
}

// SignalStartedSince signals the processes that started in a session after a time, except the session's own process, and
// reports whether it found one.
func (h *Registry) SignalStartedSince(e *Handle, since time.Time, sig syscall.Signal) bool {
	began := h.processesStartedSince(e, since)
	for _, p := range began {
		_ = syscall.Kill(p, sig) // gone already is fine
	}
	return len(began) > 0
}

// Remove removes a session: process (only with force), record and history.
func (h *Registry) Remove(ctx context.Context, e *Handle, force bool) error {
	if e.Session.Status().State == session.Running {
		if !force {
			return api.Errorf(api.CodeRunning, "session %s is running", e.Record().Name).
				WithHint("end it first with `longterm kill`, or remove it with --force")
		}
		if err := h.Kill(ctx, e, h.conf.GraceFor(identity.Of(ctx))); err != nil {
			return err
		}
	}
	if len(h.RecordLeftoversOnce(e)) > 0 { // it could not be found afterwards
		h.killLeftovers(e, h.conf.GraceFor(identity.Of(ctx)))
		h.sweep(e)
	}
	view := h.Describe(e, e.Session.Status())
	h.hide(e)
	e.Session.Stop()
	if e.device != nil { // first of all: what a keeper has and no record knows of comes back
		e.device.awaitRelease()
	}
	h.EndDraft(ctx, e) // one with changes outlives it
	err := h.removeDir(ctx, e)
	h.Index.forget(ctx, e.Session.ID())
	h.drop(e)
	h.Bus.Publish("removed", &view)
	h.restarts.forget(e.ID())
	h.draftCounts.Forget(e.ID())
	h.host.OnRemoved(e.Session.ID())
	if err != nil {
		return api.Errorf(api.CodeStorage, "remove session %s: %v", e.Record().Name, err)
	}
	return nil
}

// removeDir removes a session's directory and its record.
func (h *Registry) removeDir(ctx context.Context, e *Handle) error {
	e.dirMu.Lock()
	defer e.dirMu.Unlock()
	e.removed = true
	h.spawner.DropState(e.Session.ID())
	h.removedAny.Store(true)
	return h.erase(ctx, e.Session.ID())
}

// rereadGrace is how long a temporary session stays for callers whose answer named a command to read omitted output.
const rereadGrace = 15 * time.Minute

// RemoveEnded removes a temporary session that ended while no client showed it.
func (h *Registry) RemoveEnded(e *Handle) {
	if h.ByID(e.rec.ID) != e || !e.IsTemporary() { // already removed or made permanent
		return
	}
	if e.outputTruncated.Swap(false) {
		afterDelay(rereadGrace, e, h.RemoveEnded)
		return
	}
	if len(h.RecordLeftovers(e)) > 0 { // maintenance looks again
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := h.Remove(ctx, e, false); err != nil {
		h.log.Error("remove a temporary session", "session", e.Session.ID(), "err", err)
	}
}
