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
	"github.com/longterm-dev/longterm/session/sys/inbox"
	"github.com/longterm-dev/longterm/session/sys/linger"
)

const (
	// What waits for answers is bounded by session; what is beyond it waits in the kernel.
	maxWaiting      = 256
	maxWaitingBytes = 1 << 20
)

// listener is where a session's executions ask (K7). They are passed on as they are, and the answers back. Its file must
// stay open as long as there is a process that could ask: without it none could execute anything (ENOSYS).
type listener struct {
	run
	lead int64 // the session's process
	file *os.File
	room chan struct{} // something was answered

	bell  *linger.Bell // tells of file
	begun bool         // the program itself has been executed; of the listener's goroutine
	// Guarded by Keeper.mu.
	waiting map[uint64]*wire.Execution
	bytes   int // of those
	hearing     // who takes what is asked
}

// run is one life of a session. One that was restored has a listener of its own under the same id, and what an earlier
// run has left running still asks at that one's.
type run struct {
	id     string
	number uint64
}

func newListener(r run, lead int64, f *os.File) *listener {
	return &listener{run: r, lead: lead, file: f, room: make(chan struct{}, 1), waiting: map[uint64]*wire.Execution{}}
}

// listenTo keeps the listener of a session that begins.
func (k *Keeper) listenTo(id string, lead int, f *os.File) {
	k.mu.Lock()
	k.lastRun++
	l := newListener(run{id, k.lastRun}, int64(lead), f)
	k.listeners[l.run] = l
	if k.super.ready {
		k.handListenerLocked(l)
	}
	k.mu.Unlock()
	go k.hear(l)
}

// handListenerLocked gives the daemon a listener, so that its answers need not come by way of us.
func (k *Keeper) handListenerLocked(l *listener) {
	c := k.super.conn
	if c == nil {
		return
	}
	if err := c.sendFiles(&wire.ExecutionListener{ID: l.id, Run: l.number}, l.file); err != nil { // then they come by way of us
		k.log.Warn("hand a listener to the daemon", "session", l.id, "err", err)
	}
}

// hear passes on what is executed, until nobody is left who could.
func (k *Keeper) hear(l *listener) {
	fd, err := k.open(l)
	for err == nil {
		var next error
		err = l.bell.Wait(func() bool {
			next = k.hearAll(l, fd)
			return !errors.Is(next, sys.ErrNoNotification)
		})
		switch {
		case errors.Is(next, errNoRoom):
			<-l.room
			next = nil
		case errors.Is(next, inbox.ErrBusy):
			next = k.notYet(l)
		}
		err = errors.Join(err, next)
	}
	if !errors.Is(err, sys.ErrNobodyLeft) {
		k.log.Error("executions are not judged any more, and fail", "session", l.id, "err", err)
	}
	k.mu.Lock()
	delete(k.listeners, l.run)
	k.goneLocked(l, func(uint64) bool { return true })
	if k.super.ready {
		k.notifyLocked(&wire.ExecutionListener{ID: l.id, Run: l.number})
	}
	k.mu.Unlock()
	l.close()
	k.endIfIdle()
}

// open makes what hear needs of a listener.
func (k *Keeper) open(l *listener) (fd int, err error) {
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
	sys.WakeAtOnce(fd)
	bell, err := linger.NewBell(fd)
	if err != nil {
		return fd, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	l.bell = bell
	k.ringLocked(l)
	return fd, nil
}

// close is called when nobody finds the listener any more.
func (l *listener) close() {
	l.users.Wait()
	if l.bell != nil {
		_ = l.bell.Close()
	}
	if l.inbox != nil {
		_ = l.inbox.Close()
	}
	_ = l.file.Close()
}

// hearAll takes executions until there is none, and waits a moment for more.
func (k *Keeper) hearAll(l *listener, fd int) error {
	err := k.hearOne(l, fd)
	if err != nil || !k.lingers(l, true) {
		return err
	}
	for err == nil && k.lingers(l, true) && linger.For(fd) { // what starts one program mostly starts more
		err = k.hearOne(l, fd)
	}
	k.lingers(l, false)
	if errors.Is(err, sys.ErrNoNotification) {
		err = nil // it is looked once more, for what came before the bell was on
	}
	return err
}

var errNoRoom = errors.New("too many wait")

// hearOne takes one execution. It is held over by no upgrade between the kernel and the map.
func (k *Keeper) hearOne(l *listener, fd int) error {
	k.freeze.RLock()
	defer k.freeze.RUnlock()
	if err := k.takeLeft(l, fd); err != nil {
		return err
	}
	k.mu.Lock()
	if l.full() { // perhaps of what was answered just now
		k.goneLocked(l, func(number uint64) bool { return !sys.NotificationWaits(fd, number) })
	}
	full := l.full()
	k.mu.Unlock()
	if full {
		return errNoRoom
	}
	n, err := l.take(fd)
	if err != nil {
		return err
	}
	return k.took(l, fd, n)
}

// took passes on what was taken, or answers it.
func (k *Keeper) took(l *listener, fd int, n sys.Notification) error {
	if !n.IsExecution() {
		errno := syscall.Errno(0)
		if k.refuses(n) {
			errno = syscall.EPERM
		}
		return gone(sys.AnswerNotification(fd, n.ID, errno))
	}
	if !l.begun { // what was asked for, by the shim
		l.begun = true
		return gone(sys.AnswerNotification(fd, n.ID, 0))
	}
	e := l.read(n)
	if !sys.NotificationWaits(fd, n.ID) {
		return nil // what was read may be another process's
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if l.waiting[n.ID] != nil {
		return nil
	}
	l.waiting[n.ID] = e
	l.bytes += weight(e)
	if k.super.ready {
		k.notifyLocked(e)
	}
	return nil
}

// read looks at what a process is about to execute.
func (l *listener) read(n sys.Notification) *wire.Execution {
	e, _ := wire.ExecutionOf(n) // it says so itself
	e.ID, e.Run, e.Lead = l.id, l.number, l.lead
	if st, err := sys.ReadStat(n.PID); err == nil {
		e.Parent, e.Start = int64(st.Parent), st.Start
	}
	return e
}

// full is called with Keeper.mu held.
func (l *listener) full() bool { return len(l.waiting) >= maxWaiting || l.bytes >= maxWaitingBytes }

func weight(e *wire.Execution) int {
	n := 256 + len(e.Path)
	for _, a := range e.Argv {
		n += 24 + len(a)
	}
	return n
}

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
	l := k.whereLocked(m)
	if l == nil {
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
	raw, err := l.file.SyscallConn()
	if err == nil {
		err = sys.Control(raw, func(fd int) error { return gone(sys.AnswerNotification(fd, m.Number, errno)) })
	}
	if err != nil {
		k.log.Error("answer an execution", "session", m.ID, "err", err)
	}
	return nil
}

// whereLocked is the listener at which an execution waits that is answered; nil: nowhere any more. A daemon that knows of
// no runs names none, and the kernel's numbers are the same at no two listeners: each counts from a random one.
func (k *Keeper) whereLocked(m *wire.ExecutionAnswer) *listener {
	for r, l := range k.listeners {
		if r.id == m.ID && (m.Run == 0 || m.Run == r.number) && l.waiting[m.Number] != nil {
			return l
		}
	}
	return nil
}

// forget is called with Keeper.mu held.
func (l *listener) forget(number uint64) {
	l.bytes -= weight(l.waiting[number])
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
		raw, err := l.file.SyscallConn()
		if err != nil {
			continue
		}
		_ = raw.Control(func(fd uintptr) {
			k.goneLocked(l, func(number uint64) bool { return !sys.NotificationWaits(int(fd), number) })
		})
	}
}

func (k *Keeper) goneLocked(l *listener, is func(number uint64) bool) {
	for number := range l.waiting {
		if is(number) {
			l.forget(number)
			if k.super.ready {
				k.notifyLocked(&wire.ExecutionGone{ID: l.id, Run: l.number, Number: number})
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
	_ = syscall.SetNonblock(int(h.FD), false) // keepers before had the runtime poll it
	l := newListener(run{h.ID, h.Run}, h.Lead, adoptFile(h.FD, "seccomp listener"))
	l.begun = true
	if h.Inbox > 0 {
		if in, err := inbox.Keep(adoptFile(h.Inbox, "inbox")); err != nil { // without the listener each execution would fail
			k.log.Error("an inbox of executions", "session", h.ID, "err", err)
		} else {
			in.Grant(0)
			l.inbox, l.look = in, true
		}
	}
	k.listeners[l.run] = l
	k.lastRun = max(k.lastRun, h.Run)
	return nil
}

// resumeExecution takes over one that waits; its listener came before it.
func (k *Keeper) resumeExecution(payload []byte) error {
	e := new(wire.Execution)
	if err := wire.Decode(payload, e); err != nil {
		return err
	}
	l := k.listeners[run{e.ID, e.Run}]
	if l == nil {
		return fmt.Errorf("session %s: an execution without a listener", e.ID)
	}
	l.waiting[e.Number] = e
	l.bytes += weight(e)
	return nil
}

// listenAll goes on with what was taken over.
func (k *Keeper) listenAll() {
	for _, l := range k.listeners {
		go k.hear(l)
	}
}
