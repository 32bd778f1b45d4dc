//go:build unix

package link

import (
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/listen"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys"
)

const (
	// lookAfter is how often we look whether processes that wait were killed.
	lookAfter = time.Second
	// keenTime is how long a thread waits at a listener after something was executed there, in milliseconds. The kernel
	// switches to it from the process that asks, and back (sys.WakeAtOnce), at once; which it does not by way of the runtime's
	// poller. Where nothing is executed for that long no thread waits.
	keenTime = 100
)

// taker hears a session's listener. One goroutine at a time waits there. Who has taken an execution judges it, and leaves
// the waiting to another: so no goroutine has to be woken between the process that asks and its answer.
type taker struct {
	link  *Link
	to    Executions
	id    string
	lead  int64
	slots *listen.Slots
	file  *os.File // the listener, not polled
	raw   syscall.RawConn
	room  chan struct{} // something was answered, or it is over

	mu    sync.Mutex
	heard *os.File // polled, while nothing is executed
	begun bool
	ended bool
	look  *time.Timer
	armed bool
}

// newTaker is one that does not hear yet; nil: it cannot, and the keeper goes on.
func newTaker(l *Link, to Executions, m *wire.ExecutionListener, listener, slots *os.File) *taker {
	t := &taker{link: l, to: to, id: m.ID, lead: m.Lead, room: make(chan struct{}, 1)}
	var err error
	if t.slots, err = listen.Open(slots); err != nil {
		return nil
	}
	fds, err := wire.Duplicate(listener)
	if err == nil {
		err = syscall.SetNonblock(fds[0], false) // or the file would be polled; nobody reads from it
	}
	if err == nil {
		t.file = os.NewFile(uintptr(fds[0]), "seccomp listener")
		t.raw, err = t.file.SyscallConn()
	}
	if err != nil {
		if t.file == nil {
			fds.Close()
		}
		t.close()
		return nil
	}
	return t
}

// take begins to hear a listener: the keeper does no more.
func (l *Link) take(id string) {
	l.mu.Lock()
	t := l.answers.listeners[id].taker
	l.mu.Unlock()
	if t == nil {
		return
	}
	t.mu.Lock()
	begins := !t.begun && !t.ended
	t.begun = true
	t.mu.Unlock()
	switch {
	case !begins:
	case t.slots.Lock() != nil:
		t.giveBack()
	default:
		go t.hear()
	}
}

// hear takes what asks, until it has an execution to judge.
func (t *taker) hear() {
	for {
		n, err := t.next()
		switch {
		case errors.Is(err, sys.ErrNoNotification):
			err = t.await()
		case errors.Is(err, listen.ErrNoRoom):
			t.dropGone() // those may be what there is no room for
			<-t.room
			err = nil
		case err == nil && !n.IsExecution():
			t.answerCall(n)
		case err == nil:
			go t.hear()
			t.judge(n)
			return
		}
		if err != nil {
			t.giveBack()
			return
		}
	}
}

func (t *taker) next() (n sys.Notification, err error) {
	err = sys.Control(t.raw, func(fd int) (err error) {
		n, err = t.slots.Take(fd)
		return err
	})
	return n, err
}

// await waits until something asks, or nobody is left who could.
func (t *taker) await() error {
	asks := false
	err := sys.Control(t.raw, func(fd int) error {
		asks = sys.AwaitNotification(fd, keenTime)
		return nil
	})
	if asks || err != nil {
		return err
	}
	heard, err := listen.Polled(t.file)
	if err != nil {
		return err
	}
	defer heard.Close()
	t.mu.Lock()
	ended := t.ended
	t.heard = heard
	t.mu.Unlock()
	if ended {
		return os.ErrClosed
	}
	raw, err := heard.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Read(func(fd uintptr) bool { return sys.AwaitNotification(int(fd), 0) })
}

// answerCall answers what executes nothing.
func (t *taker) answerCall(n sys.Notification) {
	errno := syscall.Errno(0)
	if listen.Refused(n, os.Getpid(), int(t.link.hello.PID)) {
		errno = syscall.EPERM
	}
	_ = sys.Control(t.raw, func(fd int) error { return sys.AnswerNotification(fd, n.ID, errno) }) // which may have been killed
	t.done(n.ID)
}

func (t *taker) judge(n sys.Notification) {
	e := listen.Read(t.id, t.lead, n)
	if !t.waits(n.ID) {
		t.done(n.ID)
		return // what was read may be another process's
	}
	t.slots.Weigh(n.ID, listen.Weight(e))
	t.lookLater()
	if judge := t.to.Execution(e); judge != nil {
		judge()
	}
}

func (t *taker) waits(id uint64) (is bool) {
	_ = t.raw.Control(func(fd uintptr) { is = sys.NotificationWaits(int(fd), id) })
	return is
}

// lookLater looks at what waits, if it waits long.
func (t *taker) lookLater() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended || t.armed {
		return
	}
	t.armed = true
	if t.look == nil {
		t.look = time.AfterFunc(lookAfter, t.dropGone)
	} else {
		t.look.Reset(lookAfter)
	}
}

// dropGone finds those that wait no more, because their processes were killed.
func (t *taker) dropGone() {
	t.mu.Lock()
	t.armed = false
	ended := t.ended
	t.mu.Unlock()
	if ended {
		return
	}
	waiting := t.slots.Waiting()
	for _, id := range waiting {
		if !t.waits(id) && t.done(id) {
			t.to.ExecutionGone(&wire.ExecutionGone{ID: t.id, Number: id})
		}
	}
	if len(waiting) > 0 {
		t.lookLater()
	}
}

// done frees the slot of a call; false: it was not taken here. A nil taker has taken nothing.
func (t *taker) done(id uint64) bool {
	if t == nil || !t.slots.Done(id) {
		return false
	}
	select {
	case t.room <- struct{}{}:
	default:
	}
	return true
}

// giveBack has the keeper hear again: it ends a listener at which nobody can ask any more.
func (t *taker) giveBack() {
	if t.close() {
		_ = t.link.tell(&wire.ExecutionTake{ID: t.id, Back: true}) // a connection that is lost is its reader's to find
	}
}

// close hears no more; false: it had before. What was not answered is the keeper's to find.
func (t *taker) close() bool {
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return false
	}
	t.ended = true
	if t.look != nil {
		t.look.Stop()
	}
	if t.heard != nil {
		_ = t.heard.Close()
	}
	if t.file != nil {
		_ = t.file.Close()
	}
	_ = t.slots.Close()
	select {
	case t.room <- struct{}{}:
	default:
	}
	return true
}
