//go:build unix

package link

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys"
)

// A program that waits in execve goes on when the kernel is answered, and each process between costs it a wake-up. So
// answers are given at the listeners themselves, which the keeper hands us, and the keeper is told afterwards, of many
// at once. What it was not told of it finds out.

const (
	// tellAfter is how long the keeper is not told of answers that were given.
	tellAfter = 20 * time.Millisecond
	// tellAt is how many there are at most.
	tellAt = 32
)

// answers are the listeners, and what was answered there. Guarded by Link.mu.
type answers struct {
	listeners map[run]*heard
	open      map[execution]struct{} // that were not answered
	taken     map[execution]*heard   // likewise, of which the keeper does not know
	left      map[execution]struct{} // to the keeper, which will tell of them or that they wait no more
	ended     bool
	frames    []byte // that the keeper is to be told
	told      int    // of those
	timer     *time.Timer
}

// run is one life of a session: each has a listener.
type run struct {
	session string
	number  uint64
}

// execution names one.
type execution struct {
	run
	number uint64
}

// asked notes that an execution waits for an answer; false: it was answered already, when the keeper did not know of it yet.
func (l *Link) asked(m *wire.Execution) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := &l.answers
	e := execution{run{m.ID, m.Run}, m.Number}
	if _, left := a.left[e]; left {
		delete(a.left, e)
		_, open := a.open[e]
		return open
	}
	a.openLocked(e)
	return true
}

func (a *answers) openLocked(e execution) {
	if a.open == nil {
		a.open = map[execution]struct{}{}
	}
	a.open[e] = struct{}{}
}

// waits says that one that waits no more had not been answered: the keeper may not know yet of one that was.
func (l *Link) waits(m *wire.ExecutionGone) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := execution{run{m.ID, m.Run}, m.Number}
	_, is := l.answers.open[e]
	delete(l.answers.open, e)
	delete(l.answers.left, e)
	return is
}

// listenAt has executions answered at their listener; without files no more.
func (l *Link) listenAt(at run, files []*os.File) {
	// Not the files themselves: they are polled, and we would be woken by each that asks.
	fds, err := wire.Duplicate(files...)
	closeAll(files)
	l.mu.Lock()
	defer l.mu.Unlock()
	a := &l.answers
	if h := a.listeners[at]; h != nil {
		l.dropLocked(h)
	}
	switch {
	case err != nil: // it goes by way of the keeper
	case a.ended || len(fds) != 1:
		fds.Close()
	default:
		if a.listeners == nil {
			a.listeners = map[run]*heard{}
		}
		a.listeners[at] = &heard{run: at, fd: fds[0]}
	}
}

// closeLocked gives the listeners up: without a keeper nobody hears what is asked there.
func (a *answers) closeLocked() {
	a.ended = true
	for _, h := range a.listeners {
		h.close()
	}
	a.listeners, a.taken = nil, nil
	if a.timer != nil {
		a.timer.Stop()
	}
}

// Answer lets an execution happen (0), or fail.
func (l *Link) Answer(e *wire.Execution, errno syscall.Errno) error {
	at := run{e.ID, e.Run}
	m := wire.ExecutionAnswer{ID: e.ID, Run: e.Run, Number: e.Number, Allow: errno == 0, Errno: int64(errno)}
	l.mu.Lock()
	defer l.mu.Unlock()
	a := &l.answers
	which := execution{at, e.Number}
	delete(a.open, which)
	h := a.listeners[at]
	if h == nil {
		return l.conn.Write(&m)
	}
	err := sys.AnswerNotification(h.fd, e.Number, errno)
	switch taken := a.taken[which] != nil; {
	case taken && (err == nil || errors.Is(err, fs.ErrNotExist)):
		delete(a.taken, which)
		h.inbox.Clear(e.Number)
		return nil
	case taken:
		return errors.Join(l.leaveLocked(which), l.conn.Write(&m))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return l.conn.Write(&m)
	}
	m.Done = true
	a.frames = wire.AppendFrame(a.frames, &m, 0)
	if a.told++; a.told >= tellAt {
		return l.tellAnswersLocked()
	}
	switch {
	case a.timer == nil:
		a.timer = time.AfterFunc(tellAfter, l.tellAnswers)
	case a.told == 1:
		a.timer.Reset(tellAfter)
	}
	return nil
}

func (l *Link) tellAnswers() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.tellAnswersLocked() // a connection that is lost is its reader's to find
}

func (l *Link) tellAnswersLocked() error {
	a := &l.answers
	if a.told == 0 || a.ended {
		return nil
	}
	err := l.conn.WriteFrame(a.frames)
	a.frames, a.told = a.frames[:0], 0
	return err
}
