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
	listeners map[run]wire.Descriptors // each of one
	open      map[execution]struct{}   // that were not answered
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

// asked notes that an execution waits for an answer.
func (l *Link) asked(m *wire.Execution) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.answers.open == nil {
		l.answers.open = map[execution]struct{}{}
	}
	l.answers.open[execution{run{m.ID, m.Run}, m.Number}] = struct{}{}
}

// waits says that one that waits no more had not been answered: the keeper may not know yet of one that was.
func (l *Link) waits(m *wire.ExecutionGone) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := execution{run{m.ID, m.Run}, m.Number}
	_, is := l.answers.open[e]
	delete(l.answers.open, e)
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
	a.listeners[at].Close()
	delete(a.listeners, at)
	switch {
	case err != nil: // it goes by way of the keeper
	case a.ended || len(fds) != 1:
		fds.Close()
	default:
		if a.listeners == nil {
			a.listeners = map[run]wire.Descriptors{}
		}
		a.listeners[at] = fds
	}
}

// closeLocked gives the listeners up: without a keeper nobody hears what is asked there.
func (a *answers) closeLocked() {
	a.ended = true
	for _, fds := range a.listeners {
		fds.Close()
	}
	a.listeners = nil
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
	delete(a.open, execution{at, e.Number})
	fds := a.listeners[at]
	if len(fds) == 0 {
		return l.conn.Write(&m)
	}
	err := sys.AnswerNotification(fds[0], e.Number, errno)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
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
