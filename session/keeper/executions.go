//go:build unix

package keeper

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/session/sys/notifyqueue"
	"github.com/longterm-dev/longterm/session/sys/spinwait"
)

const (
	// maxWaiting and maxWaitingBytes bound the executions of a session that wait for answers. Further ones wait in the
	// kernel.
	maxWaiting      = 256
	maxWaitingBytes = 1 << 20
)

// listener is the seccomp listener of a session: processes wait there in execve for an answer (K7). The keeper forwards
// the executions, and the answers back. Its file must stay open as long as a process has the filter: without it none
// could execute anything (ENOSYS).
type listener struct {
	sessionRun
	leaderPID int64 // the session's first process
	file      *os.File
	answered  chan struct{} // signals that an execution was answered

	readySignal    *spinwait.ReadySignal // reports events on file
	programStarted bool                  // the session's own program has been executed; only the listener's goroutine uses it
	// Executions without an answer. Guarded by Keeper.mu:
	waiting       map[uint64]*wire.Execution
	waitingBytes  int // size of the waiting executions
	listenerOwner     // the receiver of executions
}

// sessionRun is one run of a session. A restored session has a new listener under the same id; leftovers of an earlier
// run still use the old one.
type sessionRun struct {
	id     string
	number uint64 // unique among the keeper's runs
}

// newListener returns the listener of a run whose first process is lead.
func newListener(r sessionRun, lead int64, f *os.File) *listener {
	return &listener{sessionRun: r, leaderPID: lead, file: f, answered: make(chan struct{}, 1), waiting: map[uint64]*wire.Execution{}}
}

// addListener registers the listener of a new session, and serves it.
func (k *Keeper) addListener(id string, lead int, f *os.File) {
	k.mu.Lock()
	k.newestRun++
	l := newListener(sessionRun{id, k.newestRun}, int64(lead), f)
	k.listeners[l.sessionRun] = l
	if k.supervisor.ready {
		k.sendListenerLocked(l)
	}
	k.mu.Unlock()
	go k.serveListener(l)
}

// sendListenerLocked sends the daemon a listener, so that it can answer the kernel directly.
func (k *Keeper) sendListenerLocked(l *listener) {
	c := k.supervisor.conn
	if c == nil {
		return
	}
	if err := c.sendFiles(&wire.ExecutionListener{ID: l.id, Run: l.number}, l.file); err != nil { // then executions arrive through us
		k.log.Warn("hand a listener to the daemon", "session", l.id, "err", err)
	}
}

// serveListener forwards executions until no process can cause one.
func (k *Keeper) serveListener(l *listener) {
	fd, err := k.openListener(l)
	for err == nil {
		var next error
		err = l.readySignal.Wait(func() bool {
			next = k.receivePending(l, fd)
			return !errors.Is(next, sys.ErrNoNotification)
		})
		switch {
		case errors.Is(next, errTooManyWaiting):
			<-l.answered
			next = nil
		case errors.Is(next, notifyqueue.ErrBusy):
			next = k.deferToDaemon(l)
		}
		err = errors.Join(err, next)
	}
	if !errors.Is(err, sys.ErrFilterUnused) {
		k.log.Error("executions can no longer be checked and will fail", "session", l.id, "err", err)
	}
	k.mu.Lock()
	delete(k.listeners, l.sessionRun)
	k.dropEndedLocked(l, func(uint64) bool { return true })
	if k.supervisor.ready {
		k.notifyLocked(&wire.ExecutionListener{ID: l.id, Run: l.number})
	}
	k.mu.Unlock()
	l.close()
	k.endIfIdle()
}

// openListener returns a listener's descriptor, with its bell.
func (k *Keeper) openListener(l *listener) (fd int, err error) {
	raw, err := l.file.SyscallConn()
	if err == nil {
		err = sys.Control(raw, func(p int) error {
			fd = p
			return nil
		})
	}
	if err != nil {
		return fd, err
	}
	sys.SetSyncWakeUp(fd)
	bell, err := spinwait.NewReadySignal(fd)
	if err != nil {
		return fd, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	l.readySignal = bell
	k.setReadySignalLocked(l)
	return fd, nil
}

// close frees the listener's files. It runs once the listener is no longer registered.
func (l *listener) close() {
	l.users.Wait()
	if l.readySignal != nil {
		_ = l.readySignal.Close()
	}
	if l.inbox != nil {
		_ = l.inbox.Close()
	}
	_ = l.file.Close()
}

// receivePending receives all pending executions and waits a moment for more.
func (k *Keeper) receivePending(l *listener, fd int) error {
	err := k.receiveOne(l, fd)
	if err != nil || !k.setSpinWaiting(l, true) {
		return err
	}
	for err == nil && k.setSpinWaiting(l, true) && spinwait.WaitReadable(fd) { // a process that starts one program mostly starts more
		err = k.receiveOne(l, fd)
	}
	k.setSpinWaiting(l, false)
	if errors.Is(err, sys.ErrNoNotification) {
		err = nil // check again for executions from before the bell was on
	}
	return err
}

// errTooManyWaiting is returned while too many executions wait for an answer.
var errTooManyWaiting = errors.New("too many wait")

// receiveOne receives one execution. An upgrade waits until a received execution is recorded.
func (k *Keeper) receiveOne(l *listener, fd int) error {
	k.freezeMu.RLock()
	defer k.freezeMu.RUnlock()
	if err := k.drainStaleInbox(l, fd); err != nil {
		return err
	}
	k.mu.Lock()
	if l.isFull() { // a recent answer may have made room
		k.dropEndedLocked(l, func(number uint64) bool { return !sys.IsNotificationValid(fd, number) })
	}
	full := l.isFull()
	k.mu.Unlock()
	if full {
		return errTooManyWaiting
	}
	n, err := l.receive(fd)
	if err != nil {
		return err
	}
	return k.forwardExecution(l, fd, n)
}

// forwardExecution records and forwards a received execution, or answers it.
func (k *Keeper) forwardExecution(l *listener, fd int, n sys.Notification) error {
	if !n.IsExecution() {
		errno := syscall.Errno(0)
		if k.rejectsSignalCall(n) {
			errno = syscall.EPERM
		}
		return ignoreExited(sys.AnswerNotification(fd, n.ID, errno))
	}
	if !l.programStarted { // the requested program, executed by the shim
		l.programStarted = true
		return ignoreExited(sys.AnswerNotification(fd, n.ID, 0))
	}
	e := l.readExecution(n)
	if !sys.IsNotificationValid(fd, n.ID) {
		return nil // the memory that was read may be another process's
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if l.waiting[n.ID] != nil {
		return nil
	}
	l.waiting[n.ID] = e
	l.waitingBytes += sizeOf(e)
	if k.supervisor.ready {
		k.notifyLocked(e)
	}
	return nil
}

// readExecution reads the execution that a process requests.
func (l *listener) readExecution(n sys.Notification) *wire.Execution {
	e, _ := wire.ExecutionOf(n) // it carries its error
	e.ID, e.Run, e.LeaderPID = l.id, l.number, l.leaderPID
	if st, err := sys.ReadStat(n.PID); err == nil {
		e.Parent, e.Start = int64(st.Parent), st.Start
	}
	return e
}

// isFull reports whether too many executions wait. The caller holds Keeper.mu.
func (l *listener) isFull() bool {
	return len(l.waiting) >= maxWaiting || l.waitingBytes >= maxWaitingBytes
}

// sizeOf returns the size of an execution, in bytes.
func sizeOf(e *wire.Execution) int {
	n := 256 + len(e.Path)
	for _, a := range e.Argv {
		n += 24 + len(a)
	}
	return n
}

// ignoreExited ignores the error of a process that has exited.
func ignoreExited(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// handleExecutionAnswer answers the kernel as the daemon decided.
func handleExecutionAnswer(k *Keeper, _ *conn, m *wire.ExecutionAnswer, _ []*os.File) error {
	k.freezeMu.RLock() // an execution must not be half answered during an upgrade
	defer k.freezeMu.RUnlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	l := k.listenerOfLocked(m)
	if l == nil {
		return nil
	}
	l.removeExecution(m.Number)
	if m.Done {
		return nil
	}
	errno := syscall.Errno(0)
	if !m.Allow {
		errno = syscall.EPERM
		if m.Errno > 0 && m.Errno < 4096 {
			errno = syscall.Errno(m.Errno)
		}
	}
	raw, err := l.file.SyscallConn()
	if err == nil {
		err = sys.Control(raw, func(fd int) error { return ignoreExited(sys.AnswerNotification(fd, m.Number, errno)) })
	}
	if err != nil {
		k.log.Error("answer an execution", "session", m.ID, "err", err)
	}
	return nil
}

// listenerOfLocked returns the listener at which the answered execution waits, or nil. An older daemon sends no run
// number; the kernel's numbers differ between listeners, since each counts from a random one.
func (k *Keeper) listenerOfLocked(m *wire.ExecutionAnswer) *listener {
	for r, l := range k.listeners {
		if r.id == m.ID && (m.Run == 0 || m.Run == r.number) && l.waiting[m.Number] != nil {
			return l
		}
	}
	return nil
}

// removeExecution removes an execution. The caller holds Keeper.mu.
func (l *listener) removeExecution(number uint64) {
	l.waitingBytes -= sizeOf(l.waiting[number])
	delete(l.waiting, number)
	setSignal(l.answered)
}

// sendExecutionsLocked sends the waiting executions to a newly connected daemon.
func (k *Keeper) sendExecutionsLocked() {
	k.pruneExitedLocked() // the former daemon answered those without reporting it
	for _, l := range k.listeners {
		k.sendListenerLocked(l)
		for _, e := range l.waiting {
			k.notifyLocked(e)
		}
	}
}

// pruneExited removes executions whose processes were killed.
func (k *Keeper) pruneExited() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.pruneExitedLocked()
}

// pruneExitedLocked removes executions whose processes have exited.
func (k *Keeper) pruneExitedLocked() {
	for _, l := range k.listeners {
		if len(l.waiting) == 0 {
			continue
		}
		raw, err := l.file.SyscallConn()
		if err != nil {
			continue
		}
		_ = raw.Control(func(fd uintptr) {
			k.dropEndedLocked(l, func(number uint64) bool { return !sys.IsNotificationValid(int(fd), number) })
		})
	}
}

// dropEndedLocked removes the executions for which is returns true, and reports their end.
func (k *Keeper) dropEndedLocked(l *listener, is func(number uint64) bool) {
	for number := range l.waiting {
		if is(number) {
			l.removeExecution(number)
			if k.supervisor.ready {
				k.notifyLocked(&wire.ExecutionEnded{ID: l.id, Run: l.number, Number: number})
			}
		}
	}
}

// resumeListener restores a listener from a handoff.
func (k *Keeper) resumeListener(payload []byte) error {
	var h wire.HandoffListener
	if err := wire.Decode(payload, &h); err != nil {
		return err
	}
	_ = syscall.SetNonblock(int(h.FD), false) // earlier keepers let the runtime poll it
	l := newListener(sessionRun{h.ID, h.Run}, h.LeaderPID, adoptFile(h.FD, "seccomp listener"))
	l.programStarted = true
	if h.Inbox > 0 {
		if in, err := notifyqueue.MapOwned(adoptFile(h.Inbox, "inbox")); err != nil { // without the listener each execution would fail
			k.log.Error("an inbox of executions", "session", h.ID, "err", err)
		} else {
			in.Grant(0)
			l.inbox, l.drainInbox = in, true
		}
	}
	k.listeners[l.sessionRun] = l
	k.newestRun = max(k.newestRun, h.Run)
	return nil
}

// resumeExecution restores a waiting execution from a handoff; its listener precedes it.
func (k *Keeper) resumeExecution(payload []byte) error {
	e := new(wire.Execution)
	if err := wire.Decode(payload, e); err != nil {
		return err
	}
	l := k.listeners[sessionRun{e.ID, e.Run}]
	if l == nil {
		return fmt.Errorf("session %s: an execution without a listener", e.ID)
	}
	l.waiting[e.Number] = e
	l.waitingBytes += sizeOf(e)
	return nil
}

// serveListeners serves the listeners from a handoff.
func (k *Keeper) serveListeners() {
	for _, l := range k.listeners {
		go k.serveListener(l)
	}
}
