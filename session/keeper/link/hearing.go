//go:build unix

package link

import (
	"errors"
	"os"
	"slices"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/session/sys/inbox"
	"github.com/longterm-dev/longterm/session/sys/linger"
)

// What a session executes comes by the keeper, who has to be woken for it. Where one was judged more mostly follow soon: for
// as long as they do we take them at the listener ourselves, and the keeper is told when it begins and when it is over. What
// was taken and not answered is in the inbox, where the keeper finds it if we are killed. What will take its time, and what
// only the keeper may read or answer, is left to it.

// heard is a session's listener.
type heard struct {
	run
	fd    int
	lead  int64        // the session's own process
	inbox *inbox.Inbox // nil: the keeper has given none
	asked bool         // for it
	deaf  bool         // we may not look at the processes that ask
}

// hearing is what the goroutine that reads waits at besides the connection.
type hearing struct {
	until time.Time // when the keeper is to hear again
	taken []*heard
}

func (h *heard) close() {
	wire.Descriptors{h.fd}.Close()
	if h.inbox != nil {
		_ = h.inbox.Close()
	}
}

// dropLocked gives a listener up.
func (l *Link) dropLocked(h *heard) {
	a, r := &l.answers, &l.reading.hearing
	for e, of := range a.taken {
		if of == h {
			delete(a.taken, e) // nobody waits at it any more
		}
	}
	delete(a.listeners, h.run)
	r.taken = slices.DeleteFunc(r.taken, func(o *heard) bool { return o == h })
	h.close()
}

// hearBy is told of the inbox of a listener.
func (l *Link) hearBy(at run, files []*os.File) {
	defer closeAll(files)
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.answers.listeners[at]
	if h == nil || h.inbox != nil || len(files) != 1 {
		return
	}
	if in, err := inbox.Map(files[0]); err == nil { // else all goes by way of the keeper
		h.inbox = in
	}
}

// expect is told of an execution that was judged: more will come soon, and are heard where they ask.
func (l *Link) expect(m *wire.Execution) {
	r := &l.reading.hearing
	r.until = time.Now().Add(linger.Time)
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.answers.listeners[run{m.ID, m.Run}]
	switch {
	case h == nil || h.deaf || !linger.Can():
	case h.inbox == nil && !h.asked:
		h.asked = true
		_ = l.conn.Write(&wire.ExecutionHearing{ID: h.session, Run: h.number, Inbox: true}) // who reads finds that it is lost
	case h.inbox != nil && !slices.Contains(r.taken, h) && len(r.taken) < linger.MaxDescriptors-1:
		h.lead = m.Lead
		r.taken = append(r.taken, h)
		_ = l.conn.Write(&wire.ExecutionHearing{ID: h.session, Run: h.number, Daemon: true})
	}
}

// giveBack has the keeper hear again.
func (l *Link) giveBack(h *heard) {
	r := &l.reading.hearing
	l.mu.Lock()
	defer l.mu.Unlock()
	r.taken = slices.DeleteFunc(r.taken, func(o *heard) bool { return o == h })
	_ = l.conn.Write(&wire.ExecutionHearing{ID: h.session, Run: h.number}) // who reads finds that it is lost
}

// hear takes and judges what is executed, as long as it comes soon. It ends when there is something to be read, and when
// nothing has come for a moment; and with false when another goroutine reads on.
func (l *Link) hear() bool {
	r := &l.reading.hearing
	if r.until.IsZero() {
		return true
	}
	for {
		ready := l.linger()
		if ready == 0 {
			break
		}
		for i, h := range slices.Clone(r.taken) {
			if ready&(2<<i) != 0 && !l.take(h) {
				return false
			}
		}
		if ready&1 != 0 {
			return true
		}
		if !time.Now().Before(r.until) { // what is there is not given to us: the keeper has not said that we take, and may be stopped
			break
		}
	}
	for len(r.taken) > 0 {
		l.giveBack(r.taken[0])
	}
	r.until = time.Time{}
	return true
}

// linger waits a moment. What there is has a bit each: the connection the first, and then those that were taken over.
func (l *Link) linger() (ready uint) {
	r := &l.reading.hearing
	raw, err := l.conn.File().SyscallConn()
	if err != nil {
		return 1 // who reads finds that, too
	}
	var fds [linger.MaxDescriptors]int
	for i, h := range r.taken {
		fds[i+1] = h.fd
	}
	err = raw.Control(func(fd uintptr) {
		fds[0] = int(fd)
		ready = linger.Until(r.until, fds[:1+len(r.taken)]...)
	})
	if err != nil {
		return 1
	}
	return ready
}

// take takes an execution at a listener, and says whether who did it hears on.
func (l *Link) take(h *heard) bool {
	n, err := h.inbox.Receive(h.fd)
	switch {
	case errors.Is(err, sys.ErrNoNotification), errors.Is(err, inbox.ErrBusy): // the keeper was faster, or does not know yet that we take
		return true
	case err != nil:
		l.giveBack(h)
		return true
	}
	return l.takeUp(h, n, h.read)
}

// takeUp has one that was taken judged, and says whether who did it hears on. It is read while it is judged: memory of a
// process can be a file whose server hangs.
func (l *Link) takeUp(h *heard, n sys.Notification, read func(sys.Notification) (*wire.Execution, error)) bool {
	which := execution{h.run, n.ID}
	l.mu.Lock()
	if l.answers.taken == nil {
		l.answers.taken = map[execution]*heard{}
	}
	l.answers.taken[which] = h
	l.mu.Unlock()
	var bad error
	more := false
	work := func(aside func()) {
		m, err := read(n)
		if err != nil || m == nil {
			bad = err
			l.leave(which)
			return
		}
		more = true
		judge := l.notices.(Executions).Execution(m) // there is nobody else who has one judged
		if judge == nil {
			l.leave(which)
			return
		}
		judge(func() {
			l.leave(which)
			aside()
		})
	}
	switch {
	case sys.NotificationComes(h.fd): // the processors have enough to do
		go work(func() {})
		l.reading.hearing.until = time.Now().Add(linger.Time)
	case !l.judge(work):
		return false // what it found may be another goroutine's still
	case more:
		l.reading.hearing.until = time.Now().Add(linger.Time)
	case errors.Is(bad, os.ErrPermission):
		h.deaf = true
		l.giveBack(h)
	}
	return true
}

// read looks at what a process is about to execute. An error says that the keeper is to look.
func (h *heard) read(n sys.Notification) (*wire.Execution, error) {
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
	if err == nil && !sys.NotificationWaits(h.fd, n.ID) {
		err = os.ErrNotExist // what was read may be another process's
	}
	return e, err
}

// leave has the keeper know of an execution that was not answered, as if it had taken it.
func (l *Link) leave(e execution) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.leaveLocked(e) // who reads finds that the connection is lost
}

func (l *Link) leaveLocked(e execution) error {
	a := &l.answers
	if a.taken[e] == nil {
		return nil
	}
	delete(a.taken, e)
	a.openLocked(e)
	if a.left == nil {
		a.left = map[execution]struct{}{}
	}
	a.left[e] = struct{}{}
	return l.conn.Write(&wire.ExecutionHearing{ID: e.session, Run: e.run.number, Number: e.number})
}
