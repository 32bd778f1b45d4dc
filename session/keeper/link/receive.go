//go:build unix

package link

import (
	"errors"
	"os"
	"slices"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/session/sys/notifyqueue"
	"github.com/longterm-dev/longterm/session/sys/spinwait"
)

// A session's executions arrive through the keeper, which must wake up for each. After one, more mostly follow soon. As
// long as they do, the daemon receives them at the listener itself, and reports start and end of that to the keeper.
// Unanswered ones are in the inbox, where the keeper finds them if the daemon is killed. Slow checks, and those that only
// the keeper may read or answer, are left to it.

// sessionListener is the seccomp listener of a session.
type sessionListener struct {
	sessionRun
	fd             int                // descriptor of the listener
	leaderPID      int64              // the session's own process
	inbox          *notifyqueue.Queue // nil: the keeper has sent none
	inboxRequested bool               // the inbox was requested
	unreadable     bool               // this process may not read the memory of the calling processes
}

// readerWait lists what the reading goroutine waits for besides the connection.
type readerWait struct {
	deadline  time.Time // when the keeper must receive executions again
	listeners []*sessionListener
}

// close closes the descriptor and the inbox.
func (h *sessionListener) close() {
	wire.Descriptors{h.fd}.Close()
	if h.inbox != nil {
		_ = h.inbox.Close()
	}
}

// removeListenerLocked removes a listener. The caller holds mu.
func (l *Link) removeListenerLocked(h *sessionListener) {
	a, r := &l.answers, &l.reading.wait
	for e, of := range a.receivedDirectly {
		if of == h {
			delete(a.receivedDirectly, e) // no process waits at it any longer
		}
	}
	delete(a.listeners, h.sessionRun)
	r.listeners = slices.DeleteFunc(r.listeners, func(o *sessionListener) bool { return o == h })
	h.close()
}

// setInbox stores the inbox of a listener.
func (l *Link) setInbox(at sessionRun, files []*os.File) {
	defer closeAll(files)
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.answers.listeners[at]
	if h == nil || h.inbox != nil || len(files) != 1 {
		return
	}
	if in, err := notifyqueue.Map(files[0]); err == nil { // otherwise all executions arrive through the keeper
		h.inbox = in
	}
}

// receiveDirectly records that an execution was checked: more will come soon, and the daemon receives them directly.
func (l *Link) receiveDirectly(m *wire.Execution) {
	r := &l.reading.wait
	r.deadline = time.Now().Add(spinwait.Period)
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.answers.listeners[sessionRun{m.ID, m.Run}]
	switch {
	case h == nil || h.unreadable || !spinwait.CanWait():
	case h.inbox == nil && !h.inboxRequested:
		h.inboxRequested = true
		// the reading goroutine notices a lost connection
		_ = l.conn.Write(&wire.ExecutionReceiver{ID: h.session, Run: h.number, Inbox: true})
	case h.inbox != nil && !slices.Contains(r.listeners, h) && len(r.listeners) < spinwait.MaxDescriptors-1:
		h.leaderPID = m.LeaderPID
		r.listeners = append(r.listeners, h)
		_ = l.conn.Write(&wire.ExecutionReceiver{ID: h.session, Run: h.number, Daemon: true})
	}
}

// returnToKeeper makes the keeper receive a listener's executions again.
func (l *Link) returnToKeeper(h *sessionListener) {
	r := &l.reading.wait
	l.mu.Lock()
	defer l.mu.Unlock()
	r.listeners = slices.DeleteFunc(r.listeners, func(o *sessionListener) bool { return o == h })
	// the reading goroutine notices a lost connection
	_ = l.conn.Write(&wire.ExecutionReceiver{ID: h.session, Run: h.number})
}

// receiveExecutions receives and checks executions as long as they come soon. It ends when the socket is readable or
// nothing has come for a moment, and returns false if another goroutine continues to read.
func (l *Link) receiveExecutions() bool {
	r := &l.reading.wait
	if r.deadline.IsZero() {
		return true
	}
	for {
		ready := l.awaitReady()
		if ready == 0 {
			break
		}
		for i, h := range slices.Clone(r.listeners) {
			if ready&(2<<i) != 0 && !l.receiveAt(h) {
				return false
			}
		}
		if ready&1 != 0 {
			return true
		}
		// not available to the daemon: the keeper has not yet granted it, and may be stopped
		if !time.Now().Before(r.deadline) {
			break
		}
	}
	for len(r.listeners) > 0 {
		l.returnToKeeper(r.listeners[0])
	}
	r.deadline = time.Time{}
	return true
}

// awaitReady waits a moment for the connection or a listener. Bit 0 of ready is the connection, the others are the
// listeners in order.
func (l *Link) awaitReady() (ready uint) {
	r := &l.reading.wait
	raw, err := l.conn.File().SyscallConn()
	if err != nil {
		return 1 // the reading goroutine notices that, too
	}
	var fds [spinwait.MaxDescriptors]int
	for i, h := range r.listeners {
		fds[i+1] = h.fd
	}
	err = raw.Control(func(fd uintptr) {
		fds[0] = int(fd)
		ready = spinwait.WaitUntil(r.deadline, fds[:1+len(r.listeners)]...)
	})
	if err != nil {
		return 1
	}
	return ready
}

// receiveAt receives an execution at a listener and reports whether the caller continues.
func (l *Link) receiveAt(h *sessionListener) bool {
	n, err := h.inbox.Receive(h.fd)
	switch {
	case errors.Is(err, sys.ErrNoNotification), errors.Is(err, notifyqueue.ErrBusy): // the keeper was faster, or does not know yet that we receive
		return true
	case err != nil:
		l.returnToKeeper(h)
		return true
	}
	return l.checkReceived(h, n, h.readExecution)
}

// checkReceived checks a received execution and reports whether the caller continues. It reads the process's memory
// within the check: the memory may be a file whose server hangs.
func (l *Link) checkReceived(h *sessionListener, n sys.Notification, read func(sys.Notification) (*wire.Execution, error)) bool {
	which := execution{h.sessionRun, n.ID}
	l.mu.Lock()
	if l.answers.receivedDirectly == nil {
		l.answers.receivedDirectly = map[execution]*sessionListener{}
	}
	l.answers.receivedDirectly[which] = h
	l.mu.Unlock()
	var bad error
	more := false
	work := func(aside func()) {
		m, err := read(n)
		if err != nil || m == nil {
			bad = err
			l.leaveToKeeper(which)
			return
		}
		more = true
		judge := l.notices.(Executions).Execution(m) // this goroutine alone checks executions
		if judge == nil {
			l.leaveToKeeper(which)
			return
		}
		judge(func() {
			l.leaveToKeeper(which)
			aside()
		})
	}
	switch {
	case sys.HasNotification(h.fd): // the processors have enough to do
		go work(func() {})
		l.reading.wait.deadline = time.Now().Add(spinwait.Period)
	case !l.check(work):
		return false // another goroutine may still use the result
	case more:
		l.reading.wait.deadline = time.Now().Add(spinwait.Period)
	case errors.Is(bad, os.ErrPermission):
		h.unreadable = true
		l.returnToKeeper(h)
	}
	return true
}

// readExecution reads the execution that a process requests. After an error the keeper must do it.
func (h *sessionListener) readExecution(n sys.Notification) (*wire.Execution, error) {
	if !n.IsExecution() {
		return nil, nil
	}
	e, err := wire.ExecutionOf(n)
	if err != nil {
		return nil, err
	}
	e.ID, e.Run, e.LeaderPID = h.session, h.number, h.leaderPID
	parent, err := sys.Parent(n.PID)
	e.Parent = int64(parent)
	if err == nil && !sys.IsNotificationValid(h.fd, n.ID) {
		err = os.ErrNotExist // the memory that was read may be another process's
	}
	return e, err
}

// leaveToKeeper passes an unanswered execution to the keeper, as if the keeper had received it.
func (l *Link) leaveToKeeper(e execution) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.leaveToKeeperLocked(e) // the reading goroutine notices a lost connection
}

// leaveToKeeperLocked works like leaveToKeeper. The caller holds mu.
func (l *Link) leaveToKeeperLocked(e execution) error {
	a := &l.answers
	if a.receivedDirectly[e] == nil {
		return nil
	}
	delete(a.receivedDirectly, e)
	a.addUnansweredLocked(e)
	if a.leftToKeeper == nil {
		a.leftToKeeper = map[execution]struct{}{}
	}
	a.leftToKeeper[e] = struct{}{}
	return l.conn.Write(&wire.ExecutionReceiver{ID: e.session, Run: e.sessionRun.number, Number: e.number})
}
