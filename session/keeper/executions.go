//go:build unix

package keeper

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"github.com/longterm-dev/longterm/session/keeper/listen"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys"
)

// listener is where a session's executions ask (K7). The daemon hears it, as soon as there is one that wants to; else we do
// and pass on what asks as it is, and the answers back. Its file must stay open as long as there is a process that could
// ask: without it none could execute anything (ENOSYS).
type listener struct {
	id    string
	lead  int64         // the session's process
	file  *os.File      // not polled, see listen.Polled
	slots *listen.Slots // nil: no other process can hear it; their lock is ours unless taken
	room  chan struct{} // something was answered, or the daemon takes it

	ear sync.Mutex // of the goroutine that hears, or waits to; taken before Keeper.mu

	// Guarded by Keeper.mu.
	begun   bool     // the program itself has been executed
	taken   bool     // a daemon hears it, or is about to; until we do again
	taker   *conn    // that daemon's; nil: of a keeper before an upgrade
	heard   *os.File // what we hear it by
	waiting map[uint64]*wire.Execution
	bytes   int // of those
}

func newListener(id string, lead int64, f *os.File, slots *listen.Slots) *listener {
	return &listener{id: id, lead: lead, file: f, slots: slots, room: make(chan struct{}, 1), waiting: map[uint64]*wire.Execution{}}
}

// makeSlots has another process hear a listener; without, it stays ours.
func (k *Keeper) makeSlots(id string) *listen.Slots {
	slots, err := listen.Create()
	if err != nil {
		k.log.Warn("executions are passed on, which costs more", "session", id, "err", err)
	}
	return slots
}

// listenTo keeps the listener of a session that begins.
func (k *Keeper) listenTo(id string, lead int, f *os.File) {
	l := newListener(id, int64(lead), f, k.makeSlots(id))
	k.mu.Lock()
	if old := k.listeners[id]; old != nil && old.taken { // what the run before left asks on, by way of us
		go k.takeBack(old, old.taker)
	}
	k.listeners[id] = l
	k.mu.Unlock()
	go k.hear(l)
}

// handListenerLocked gives the daemon a listener of a program that was begun, so that what asks there and what is answered
// need not come by way of us.
func (k *Keeper) handListenerLocked(l *listener) {
	c := k.super.conn
	if c == nil || !l.begun || l.taken {
		return
	}
	files := []*os.File{l.file}
	if l.slots != nil {
		files = append(files, l.slots.File())
	}
	if err := c.sendFiles(&wire.ExecutionListener{ID: l.id, Lead: l.lead}, files...); err != nil { // then they come by way of us
		k.log.Warn("hand a listener to the daemon", "session", l.id, "err", err)
	}
}

// hear passes on what is executed, until nobody is left who could or the daemon hears it.
func (k *Keeper) hear(l *listener) {
	l.ear.Lock()
	defer l.ear.Unlock()
	heard, err := listen.Polled(l.file)
	if err == nil {
		defer heard.Close()
		k.mu.Lock()
		l.heard = heard
		taken := l.taken
		k.mu.Unlock()
		if taken { // before there was what could be closed
			err = os.ErrClosed
		} else {
			err = k.hearFile(l, heard)
		}
	}
	k.mu.Lock()
	l.heard = nil
	taken, c := l.taken, l.taker
	k.mu.Unlock()
	if taken && !errors.Is(err, sys.ErrNobodyLeft) { // its file was closed
		k.letTake(l, c)
		return
	}
	if !errors.Is(err, sys.ErrNobodyLeft) {
		k.log.Error("executions are not judged any more, and fail", "session", l.id, "err", err)
	}
	k.endListener(l)
}

// hearFile ends with an error.
func (k *Keeper) hearFile(l *listener, heard *os.File) error {
	raw, err := heard.SyscallConn()
	if err == nil {
		err = sys.Control(raw, func(fd int) error { sys.WakeAtOnce(fd); return nil })
	}
	for err == nil {
		var next error
		err = raw.Read(func(fd uintptr) bool {
			next = k.hearOne(l, int(fd))
			return !errors.Is(next, sys.ErrNoNotification)
		})
		if errors.Is(next, errNoRoom) {
			<-l.room
			next = nil
		}
		err = errors.Join(err, next)
	}
	return err
}

// endListener forgets a listener at which nobody can ask any more.
func (k *Keeper) endListener(l *listener) {
	k.mu.Lock()
	last := k.listeners[l.id] == l // a session that was restored has one of its own, under the same id
	if last {
		delete(k.listeners, l.id)
	}
	k.goneLocked(l, func(uint64) bool { return true })
	if last && k.super.ready {
		k.notifyLocked(&wire.ExecutionListener{ID: l.id})
	}
	k.mu.Unlock()
	_ = l.file.Close()
	if l.slots != nil {
		_ = l.slots.Close()
	}
	k.endIfIdle()
}

var errNoRoom = errors.New("too many wait")

// hearOne takes one execution. It is held over by no upgrade between the kernel and the map.
func (k *Keeper) hearOne(l *listener, fd int) error {
	k.freeze.RLock()
	defer k.freeze.RUnlock()
	k.mu.Lock()
	if l.full() { // perhaps of what was answered just now
		k.goneLocked(l, func(number uint64) bool { return !sys.NotificationWaits(fd, number) })
	}
	full := l.full()
	k.mu.Unlock()
	if full {
		return errNoRoom
	}
	n, err := sys.ReceiveNotification(fd)
	if err != nil {
		return err
	}
	if !n.IsExecution() {
		return k.answerCall(n, fd)
	}
	k.mu.Lock()
	begun := l.begun
	k.mu.Unlock()
	if !begun { // what was asked for, by the shim
		err := gone(sys.AnswerNotification(fd, n.ID, 0))
		k.mu.Lock()
		defer k.mu.Unlock()
		if l.begun = true; k.super.ready && k.listeners[l.id] == l {
			k.handListenerLocked(l)
		}
		return err
	}
	k.passOn(l, n, fd)
	return nil
}

// answerCall answers a call that executes nothing.
func (k *Keeper) answerCall(n sys.Notification, fd int) error {
	k.mu.Lock()
	ours := []int{os.Getpid(), k.super.pid}
	if c := k.super.conn; c != nil {
		ours = append(ours, int(c.pid))
	}
	k.mu.Unlock()
	errno := syscall.Errno(0)
	if listen.Refused(n, ours...) {
		errno = syscall.EPERM
	}
	return gone(sys.AnswerNotification(fd, n.ID, errno))
}

// passOn tells the daemon of an execution.
func (k *Keeper) passOn(l *listener, n sys.Notification, fd int) {
	e := listen.Read(l.id, l.lead, n)
	if !sys.NotificationWaits(fd, n.ID) {
		return // what was read may be another process's
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	l.waiting[n.ID] = e
	l.bytes += listen.Weight(e)
	if k.super.ready {
		k.notifyLocked(e)
	}
}

// full is called with Keeper.mu held.
func (l *listener) full() bool { return len(l.waiting) >= listen.Most || l.bytes >= listen.MostBytes }

// gone is no error when the process that waited has ended.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func handleExecutionAnswer(k *Keeper, _ *conn, m *wire.ExecutionAnswer, _ []*os.File) error {
	k.freeze.RLock() // not half answered when it is handed over
	defer k.freeze.RUnlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	l := k.listeners[m.ID]
	if l == nil || l.waiting[m.Number] == nil {
		return nil
	}
	l.forget(m.Number)
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
	err := l.control(func(fd int) error { return gone(sys.AnswerNotification(fd, m.Number, errno)) })
	if err != nil {
		k.log.Error("answer an execution", "session", m.ID, "err", err)
	}
	return nil
}

func (l *listener) control(f func(fd int) error) error {
	raw, err := l.file.SyscallConn()
	if err != nil {
		return err
	}
	return sys.Control(raw, f)
}

// forget is called with Keeper.mu held.
func (l *listener) forget(number uint64) {
	l.bytes -= listen.Weight(l.waiting[number])
	delete(l.waiting, number)
	wake(l.room)
}

// tellExecutionsLocked tells a daemon that serves from now on of what waits.
func (k *Keeper) tellExecutionsLocked() {
	k.dropGoneLocked() // what the daemon before has answered, and had not told of yet
	for _, l := range k.listeners {
		k.handListenerLocked(l)
		for _, e := range l.waiting {
			k.notifyLocked(e)
		}
	}
}

// dropGone finds those that wait no more, because their processes were killed.
func (k *Keeper) dropGone() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.dropGoneLocked()
}

func (k *Keeper) dropGoneLocked() {
	for _, l := range k.listeners {
		if len(l.waiting) == 0 {
			continue
		}
		_ = l.control(func(fd int) error {
			k.goneLocked(l, func(number uint64) bool { return !sys.NotificationWaits(fd, number) })
			return nil
		})
	}
}

func (k *Keeper) goneLocked(l *listener, is func(number uint64) bool) {
	for number := range l.waiting {
		if is(number) {
			l.forget(number)
			if k.super.ready {
				k.notifyLocked(&wire.ExecutionGone{ID: l.id, Number: number})
			}
		}
	}
}

// resumeListener takes a listener over from the previous execution.
func (k *Keeper) resumeListener(payload []byte) error {
	var h wire.HandoffListener
	if err := wire.Decode(payload, &h); err != nil {
		return err
	}
	if err := syscall.SetNonblock(int(h.FD), false); err != nil { // a keeper before slots had it polled
		return os.NewSyscallError("fcntl", err)
	}
	var slots *listen.Slots
	if h.SlotsFD != 0 {
		slots = listen.Adopt(adoptFile(h.SlotsFD, "taken executions"))
	} else {
		slots = k.makeSlots(h.ID)
	}
	l := newListener(h.ID, h.Lead, adoptFile(h.FD, "seccomp listener"), slots)
	l.begun, l.taken = true, h.Taken
	k.listeners[h.ID] = l
	return nil
}

// resumeExecution takes over one that waits; its listener came before it.
func (k *Keeper) resumeExecution(payload []byte) error {
	e := new(wire.Execution)
	if err := wire.Decode(payload, e); err != nil {
		return err
	}
	l := k.listeners[e.ID]
	if l == nil {
		return fmt.Errorf("session %s: an execution without a listener", e.ID)
	}
	l.waiting[e.Number] = e
	l.bytes += listen.Weight(e)
	return nil
}

// listenAll goes on with what was taken over.
func (k *Keeper) listenAll() {
	for _, l := range k.listeners {
		if l.taken {
			go k.takeBack(l, nil)
		} else {
			go k.hear(l)
		}
	}
}
