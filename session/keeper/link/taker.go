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

// lookAfter is how often we look whether processes that wait were killed.
const lookAfter = time.Second

// taker hears a session's listener. One goroutine at a time waits there. Who has taken an execution judges it, and leaves
// the waiting to another: so no goroutine has to be woken between the process that asks and its answer.
type taker struct {
	link  *Link
	to    Executions
	id    string
	lead  int64
	slots *listen.Slots
	heard *os.File
	raw   syscall.RawConn
	room  chan struct{} // something was answered, or it is over

	mu    sync.Mutex
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
	if t.heard, err = listen.Polled(listener); err == nil {
		t.raw, err = t.heard.SyscallConn()
	}
	if err != nil {
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
		var n sys.Notification
		var taken error
		err := t.raw.Read(func(fd uintptr) bool {
			n, taken = t.slots.Take(int(fd))
			if taken == nil && !n.IsExecution() { // answered before another is waited for
				t.answerCall(int(fd), n)
			}
			return !errors.Is(taken, sys.ErrNoNotification)
		})
		switch {
		case err != nil || taken != nil && !errors.Is(taken, listen.ErrNoRoom):
			t.giveBack()
			return
		case taken != nil:
			t.dropGone() // those may be what there is no room for
			<-t.room
		case n.IsExecution():
			go t.hear()
			t.judge(n)
			return
		}
	}
}

// answerCall answers what executes nothing.
func (t *taker) answerCall(fd int, n sys.Notification) {
	errno := syscall.Errno(0)
	if listen.Refused(n, os.Getpid(), int(t.link.hello.PID)) {
		errno = syscall.EPERM
	}
	_ = sys.AnswerNotification(fd, n.ID, errno) // to one that was killed
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
	_ = t.slots.Close()
	select {
	case t.room <- struct{}{}:
	default:
	}
	return true
}
