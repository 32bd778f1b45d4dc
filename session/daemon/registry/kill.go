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
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/evidence"
	"github.com/longterm-dev/longterm/session/internal/ladder"
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

func nameOfSignal(n int) string { return unix.SignalName(syscall.Signal(n)) }

// Signal sends one signal.
func (h *Registry) Signal(ctx context.Context, e *Handle, req api.Signal) error {
	sig, err := parseSignal(req.Signal)
	if err != nil {
		return err
	}
	if e.device == nil || e.Session.Status().State != session.Running {
		return ended(e)
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

func ended(e *Handle) error {
	return api.Errorf(api.CodeEnded, "session %s has ended", e.Record().Name).
		WithHint("its screen and output can still be read")
}

// Kill ends a session's process and all its descendants by the kill ladder. It returns
// once the end is known, which takes up to the grace for each step that a process heeds.
func (h *Registry) Kill(ctx context.Context, e *Handle, grace time.Duration) error {
	defer h.sweep(e)
	return h.end(ctx, e, grace, h.walker.look)
}

// KillEach is Kill of several at the same time. It returns why one did not end, in the order of the list; nil: it did.
func (h *Registry) KillEach(ctx context.Context, list []*Handle, grace time.Duration) []error {
	defer h.sweep(list...)
	errs := make([]error, len(list))
	// One look does for all of them, while none does anything else: in the crowd of those that end, each of its
	// thousands of system calls would wait for a turn.
	look := sync.OnceValue(h.walker.look)
	var all sync.WaitGroup
	for i, e := range list {
		all.Go(func() { errs[i] = h.end(ctx, e, grace, look) })
	}
	all.Wait()
	return errs
}

// Lives says that a session has a process, its own or one that it left behind, or is about to have one again.
func (h *Registry) Lives(e *Handle) bool {
	return e.Session.Status().State == session.Running || h.restarts.wanted(e) || len(h.SeeLeft(e)) > 0
}

// end is Kill but for what the session leaves behind. look is at all processes, before the first is told to end.
func (h *Registry) end(ctx context.Context, e *Handle, grace time.Duration, look func() *sys.Table) error {
	waits := h.restarts.wanted(e)
	e.toEnd.Store(true) // where it has ended, too: it may be about to be started again
	if waits {          // the next daemon is not to start it either
		h.Save(e, func(r *store.Session) { r.Stopped = true })
	}
	if e.device == nil || e.Session.Status().State != session.Running {
		h.endLeft(e, grace)
		return nil
	}
	pid, known := e.Session.Status().PID, processesAmong(look(), e)
	defer func() { sys.SignalAll(known, syscall.SIGKILL) }() // who survived, and could not be found any more
	ended, err := ladder.Climb(ctx, ladder.Session(grace), &sessionTarget{h: h, e: e, known: known, all: known, fresh: true})
	if err == nil && !ended {
		return e.untold(ctx, pid, known)
	}
	if err != nil && e.Session.Status().State == session.Running { // it runs on as if nobody had asked
		e.toEnd.Store(false)
	}
	return err
}

// takenTime is how long a session whose process has ended gets to take what it printed: after a crash of the daemon thousands may
// have much to read at once.
const takenTime = 2 * time.Minute

// untold is why the end of a killed process was not told in time: it lives, or its session has not come to its end yet. nil: it
// was told now.
func (e *Handle) untold(ctx context.Context, pid int, known []sys.Process) error {
	if slices.ContainsFunc(known, func(p sys.Process) bool { return p.PID == pid && p.Lives() }) {
		return api.Errorf(api.CodeTimeout, "process %d did not end by SIGKILL", pid).
			WithHint("it hangs in the kernel; see `ps -o stat,wchan %d`", pid)
	}
	if e.endsWithin(ctx, takenTime) {
		return nil
	}
	return api.Errorf(api.CodeTimeout, "process %d has ended, but not all that it printed was taken so far", pid).
		WithHint("the session ends by itself once it was; `longterm wait %s --for exit` waits for that", e.Record().Name)
}

// sessionTarget is all that runs of a session, for the kill ladder.
type sessionTarget struct {
	h        *Registry
	e        *Handle
	known    []sys.Process // before the first step
	all      []sys.Process // at the last look
	fresh    bool          // nothing was waited for since then
	told     []sys.Process // processes that got the last step's signal
	handlers []sys.Process // those of them that do not ignore it
}

// Send implements ladder.Target.
func (t *sessionTarget) Send(ctx context.Context, s ladder.Step) (ladder.Sent, error) {
	if s.Signal == syscall.SIGINT && t.e.atPrompt() {
		return ladder.Unheard, nil // there is nothing to interrupt
	}
	if !t.fresh && !s.Foreground {
		t.all, t.fresh = t.h.processesOf(t.e), true
	}
	var err error
	if s.Foreground {
		t.told = inGroup(t.all, t.e.device.foreground())
	}
	t.handlers = t.handlersOf(s.Signal) // before the signal, which may end them
	sent, err := t.h.sendAll(ctx, t.e, s, t.all, len(t.known) > 0)
	if !s.Foreground {
		t.told = sent
	}
	switch {
	case errors.Is(err, link.ErrNotFound):
		return ladder.Leaving, nil // it ended by itself, and was let go, before this step
	case err != nil && !s.Foreground:
		return ladder.Heard, fmt.Errorf("signal: %w", err)
	case len(t.told) > 0 && len(t.handlers) == 0:
		return ladder.Unheard, nil
	}
	return ladder.Heard, nil
}

// handlersOf returns the receivers of a signal that do not ignore it, without a shell at its prompt for TERM: it handles TERM, but
// does not exit.
func (t *sessionTarget) handlersOf(sig syscall.Signal) []sys.Process {
	procs, own := t.all, -1
	switch {
	case sig == syscall.SIGINT:
		procs = t.told
	case sig == syscall.SIGTERM && t.e.atPrompt():
		own = t.e.Session.Status().PID
	}
	return slices.DeleteFunc(slices.Clone(procs), func(p sys.Process) bool { return p.PID == own || p.Ignores(sig) })
}

// inGroup returns those of some processes that are in a process group.
func inGroup(procs []sys.Process, group int) []sys.Process {
	return slices.DeleteFunc(slices.Clone(procs), func(p sys.Process) bool {
		st, err := sys.ReadStat(p.PID)
		return err != nil || st.Group != group
	})
}

// Await implements ladder.Target. What the process left when it ended is told, or was, and gets the
// grace, too; what is killed is not waited for here.
func (t *sessionTarget) Await(ctx context.Context, s ladder.Step) bool {
	until := time.Now().Add(s.Grace)
	t.fresh = false
	waiting, stop := context.WithTimeout(ctx, s.Grace)
	defer stop()
	var watch sync.WaitGroup
	if !s.Last() && len(t.handlers) > 0 {
		watch.Go(func() { t.stopWhenHandled(waiting, stop, s.Signal) })
	}
	ended := t.e.endsWithin(waiting, s.Grace)
	stop()
	if watch.Wait(); !ended {
		return false
	}
	switch {
	case s.Signal == syscall.SIGINT:
		t.h.endLeft(t.e, s.Grace, t.known...)
	case !s.Last():
		awaitEnd(t.handlers, time.Until(until))
	}
	return true
}

// maxLeftPoll is the longest interval between checks whether processes that got a signal have exited.
const maxLeftPoll = 50 * time.Millisecond

// questionTime is how long a program that waits for input may take to act on an interrupt.
const questionTime = 2 * time.Second

// stopWhenHandled calls stop once all processes that handle the step's signal have exited while the session's own process lives:
// for example a shell whose job ended by an interrupt. It also calls stop if the program waits for input questionTime after an
// interrupt, which did not end it then.
func (t *sessionTarget) stopWhenHandled(ctx context.Context, stop func(), sig syscall.Signal) {
	began := time.Now()
	for wait := leftPoll; ; wait = min(2*wait, maxLeftPoll) {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		st := t.e.Session.Status()
		own := slices.IndexFunc(t.all, func(p sys.Process) bool { return p.PID == st.PID })
		if own < 0 || !t.all[own].Lives() { // its end is about to be published
			return
		}
		asks := sig == syscall.SIGINT && st.Needs.Kind != evidence.None && time.Since(began) >= questionTime
		if asks || len(sys.Living(t.handlers)) == 0 {
			stop()
			return
		}
	}
}

// killedTime is how long the kernel gets to carry a SIGKILL out.
const killedTime = 15 * time.Second

// atPrompt says that the session's shell waits for a line.
func (e *Handle) atPrompt() bool {
	st := e.Session.Status()
	return st.Shell.Phase == shell.PhasePrompt && st.Shell.Quality != shell.None && e.device.foreground() == e.Session.Leader()
}

// sendAll sends a step's signal to all of the session's processes, and returns who got it, where that is everybody. seen says
// that they can be found here: these are all there are.
func (h *Registry) sendAll(ctx context.Context, e *Handle, step ladder.Step, all []sys.Process, seen bool) ([]sys.Process, error) {
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
	_, err := e.Session.Wait(ctx, session.WaitFor{Conds: []session.Cond{{Kind: session.CondExit}}})
	return err == nil
}

// sweepRounds bounds looking for processes that were born while others were killed.
const sweepRounds = 5

// sweep kills what sessions left behind: everybody in their cgroups, and the processes that
// still carry their marks. One look at the system's processes does for all of them.
func (h *Registry) sweep(list ...*Handle) {
	for _, e := range list {
		killCgroup(e)
	}
	var seen *sys.Table
	for range sweepRounds {
		var left []sys.Process
		seen = h.walker.look()
		for _, e := range list {
			left = append(left, sys.Living(seen.Of(0, e.Session.ID()))...)
		}
		if len(left) == 0 {
			break
		}
		sys.SignalAll(left, syscall.SIGKILL)
		awaitEnd(left, killedTime)
	}
	for _, e := range list {
		h.noteLeft(e, func() []sys.Process { return seen.Of(0, e.Session.ID()) })
	}
}

// SignalBegan signals the processes that started in a session after a time, without the session's own process, and reports
// whether it found one.
func (h *Registry) SignalBegan(e *Handle, since time.Time, sig syscall.Signal) bool {
	began := h.began(e, since)
	for _, p := range began {
		_ = syscall.Kill(p, sig) // gone already is fine
	}
	return len(began) > 0
}

// Remove forgets a session: process (only with force), record and history.
func (h *Registry) Remove(ctx context.Context, e *Handle, force bool) error {
	if e.Session.Status().State == session.Running {
		if !force {
			return api.Errorf(api.CodeRunning, "session %s is running", e.Record().Name).
				WithHint("end it first with `longterm kill`, or remove it with --force")
		}
		if err := h.Kill(ctx, e, h.conf.GraceFor(actor.Of(ctx))); err != nil {
			return err
		}
	}
	if len(h.SeeLeft(e)) > 0 { // it could not be found afterwards
		h.endLeft(e, h.conf.GraceFor(actor.Of(ctx)))
		h.sweep(e)
	}
	view := h.Describe(e, e.Session.Status())
	h.hide(e)
	e.Session.Stop()
	if e.device != nil { // first of all: what a keeper has and no record knows of comes back
		e.device.released()
	}
	err := h.removeDir(ctx, e)
	h.Index.forget(ctx, e.Session.ID())
	h.drop(e)
	h.Bus.Publish("removed", &view)
	h.restarts.forget(e.ID())
	h.host.Removed(e.Session.ID())
	if err != nil {
		return api.Errorf(api.CodeStorage, "remove session %s: %v", e.Record().Name, err)
	}
	return nil
}

// removeDir removes a session's directory and its record.
func (h *Registry) removeDir(ctx context.Context, e *Handle) error {
	e.manifest.Lock()
	defer e.manifest.Unlock()
	e.removed = true
	h.spawner.DropState(e.Session.ID())
	h.forgotten.Store(true)
	return h.erase(ctx, e.Session.ID())
}

// rereadGrace is how long a temporary session stays for callers who were told how to read what
// its answer left out.
const rereadGrace = 15 * time.Minute

// RemoveEnded removes a temporary session that ended while no client showed it.
func (h *Registry) RemoveEnded(e *Handle) {
	if h.ByID(e.rec.ID) != e || !e.Temporary() { // removed, or kept, meanwhile
		return
	}
	if e.cut.Swap(false) {
		inAWhile(rereadGrace, e, h.RemoveEnded)
		return
	}
	if len(h.NoteLeft(e)) > 0 { // maintenance looks again
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := h.Remove(ctx, e, false); err != nil {
		h.log.Error("remove a temporary session", "session", e.Session.ID(), "err", err)
	}
}
