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

// A session's executions arrive through the keeper, which must wake up for each. After one, more mostly follow soon: as
// long as they do, the daemon receives them at the listener itself, and reports start and end of that to the keeper.
// Unanswered ones are in the inbox, where the keeper finds them if the daemon is killed. Slow checks, and those that
// only the keeper may read or answer, are left to it.

// sessionListener is the seccomp listener of a session.
type sessionListener struct {
	run
	fd             int
	lead           int64              // the session's own process
	inbox          *notifyqueue.Inbox // nil: the keeper has sent none
	inboxRequested bool               // the inbox was requested
	unreadable     bool               // this process may not read the memory of the calling processes
}

// readerWait lists what the reading goroutine waits for besides the connection.
type readerWait struct {
	until     time.Time // when the keeper is to receive executions again
	listeners []*sessionListener
}

// close closes the descriptor and the inbox.
func (h *sessionListener) close() {
	wire.Descriptors{h.fd}.Close()
	if h.inbox != nil {
		_ = h.inbox.Close()
	}
}

// dropLocked removes a listener.
func (l *Link) dropLocked(h *sessionListener) {
	a, r := &l.answers, &l.reading.wait
	for e, of := range a.received {
		if of == h {
			delete(a.received, e) // no process waits at it any longer
		}
	}
	delete(a.listeners, h.run)
	r.listeners = slices.DeleteFunc(r.listeners, func(o *sessionListener) bool { return o == h })
	h.close()
}

// setInbox stores the inbox of a listener.
func (l *Link) setInbox(at run, files []*os.File) {
	defer closeAll(files)
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.answers.listeners[at]
	if h == nil || h.inbox != nil || len(files) != 1 {
		return
	}
	if in, err := notifyqueue.Map(files[0]); err == nil { // else all goes by way of the keeper
		h.inbox = in
	}
}

// expect records that an execution was checked: more will come soon, and the daemon receives them directly.
func (l *Link) expect(m *wire.Execution) {
	r := &l.reading.wait
	r.until = time.Now().Add(spinwait.Time)
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.answers.listeners[run{m.ID, m.Run}]
	switch {
	case h == nil || h.unreadable || !spinwait.Can():
	case h.inbox == nil && !h.inboxRequested:
		h.inboxRequested = true
		// the reading goroutine notices a lost connection
		_ = l.conn.Write(&wire.ExecutionHearing{ID: h.session, Run: h.number, Inbox: true})
	case h.inbox != nil && !slices.Contains(r.listeners, h) && len(r.listeners) < spinwait.MaxDescriptors-1:
		h.lead = m.Lead
		r.listeners = append(r.listeners, h)
		_ = l.conn.Write(&wire.ExecutionHearing{ID: h.session, Run: h.number, Daemon: true})
	}
}

// giveBack makes the keeper receive a listener's executions again.
func (l *Link) giveBack(h *sessionListener) {
	r := &l.reading.wait
	l.mu.Lock()
	defer l.mu.Unlock()
	r.listeners = slices.DeleteFunc(r.listeners, func(o *sessionListener) bool { return o == h })
	// the reading goroutine notices a lost connection
	_ = l.conn.Write(&wire.ExecutionHearing{ID: h.session, Run: h.number})
}

// receiveExecutions receives and checks executions as long as they come soon. It ends when the socket is readable or
// nothing has come for a moment, and returns false if another goroutine continues to read.
func (l *Link) receiveExecutions() bool {
	r := &l.reading.wait
	if r.until.IsZero() {
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
		if !time.Now().Before(r.until) {
			break
		}
	}
	for len(r.listeners) > 0 {
		l.giveBack(r.listeners[0])
	}
	r.until = time.Time{}
	return true
}

// awaitReady waits a moment for the connection or a listener. The first bit of ready is the connection, the others are
// the listeners in order.
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
		ready = spinwait.Until(r.until, fds[:1+len(r.listeners)]...)
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
	case errors.Is(err, sys.ErrNoNotification), errors.Is(err, notifyqueue.ErrBusy): // the keeper was faster, or does not know yet that we take
		return true
	case err != nil:
		l.giveBack(h)
		return true
	}
	return l.checkReceived(h, n, h.read)
}

// checkReceived checks a received execution and reports whether the caller continues. It reads the process's memory
// within the check: the memory may be a file whose server hangs.
func (l *Link) checkReceived(h *sessionListener, n sys.Notification, read func(sys.Notification) (*wire.Execution, error)) bool {
	which := execution{h.run, n.ID}
	l.mu.Lock()
	if l.answers.received == nil {
		l.answers.received = map[execution]*sessionListener{}
	}
	l.answers.received[which] = h
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
		judge := l.notices.(Executions).Execution(m) // no other goroutine checks one
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
	case sys.NotificationComes(h.fd): // the processors have enough to do
		go work(func() {})
		l.reading.wait.until = time.Now().Add(spinwait.Time)
	case !l.check(work):
		return false // what it found may be another goroutine's still
	case more:
		l.reading.wait.until = time.Now().Add(spinwait.Time)
	case errors.Is(bad, os.ErrPermission):
		h.unreadable = true
		l.giveBack(h)
	}
	return true
}

// read reads what a process is about to execute. After an error the keeper must do it.
func (h *sessionListener) read(n sys.Notification) (*wire.Execution, error) {
	if !n.IsExecution() {
		return nil, nil
	}
	e, err := wire.ExecutionOf(n)
	if err != nil {
		return nil, err
	}
	e.ID, e.Run, e.Lead = h.session, h.number, h.lead
	parent, err := sys.Parent(n.PID)
	e.Parent = int64(parent)
	if err == nil && !sys.NotificationValid(h.fd, n.ID) {
		err = os.ErrNotExist // what was read may be another process's
	}
	return e, err
}

// leaveToKeeper passes an unanswered execution to the keeper, as if the keeper had received it.
func (l *Link) leaveToKeeper(e execution) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.leaveLocked(e) // the reading goroutine notices a lost connection
}

// leaveLocked is leaveToKeeper. The caller holds mu.
func (l *Link) leaveLocked(e execution) error {
	a := &l.answers
	if a.received[e] == nil {
		return nil
	}
	delete(a.received, e)
	a.openLocked(e)
	if a.left == nil {
		a.left = map[execution]struct{}{}
	}
	a.left[e] = struct{}{}
	return l.conn.Write(&wire.ExecutionHearing{ID: e.session, Run: e.run.number, Number: e.number})
}
