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

// A program that waits in execve continues once the kernel is answered, and each process in between costs a wake-up. So
// the daemon answers at the listeners themselves, which the keeper hands over, and reports many answers to the keeper
// at once. The keeper discovers unreported ones itself.

const (
	// batchDelay is how long answers wait before they are reported to the keeper.
	batchDelay = 20 * time.Millisecond
	// batchSize bounds the answers in a batch.
	batchSize = 32
)

// answerState holds the sessions' listeners and the state of their executions. Guarded by Link.mu.
type answerState struct {
	listeners        map[sessionRun]*sessionListener
	unanswered       map[execution]struct{}         // executions without an answer
	receivedDirectly map[execution]*sessionListener // executions that the keeper does not know of, without an answer
	leftToKeeper     map[execution]struct{}         // executions left to the keeper, which will report them or their end
	ended            bool                           // the connection has ended
	frames           []byte                         // answers to send to the keeper
	batched          int                            // number of answers in frames
	timer            *time.Timer
}

// sessionRun is one run of a session. Each run has its own listener.
type sessionRun struct {
	session string
	number  uint64
}

// execution identifies an execution.
type execution struct {
	sessionRun
	number uint64
}

// noteExecution records that an execution waits for an answer. It returns false if the execution was answered before
// the keeper knew of it.
func (l *Link) noteExecution(m *wire.Execution) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := &l.answers
	e := execution{sessionRun{m.ID, m.Run}, m.Number}
	if _, left := a.leftToKeeper[e]; left {
		delete(a.leftToKeeper, e)
		_, open := a.unanswered[e]
		return open
	}
	a.addUnansweredLocked(e)
	return true
}

// addUnansweredLocked records an execution without an answer.
func (a *answerState) addUnansweredLocked(e execution) {
	if a.unanswered == nil {
		a.unanswered = map[execution]struct{}{}
	}
	a.unanswered[e] = struct{}{}
}

// wasUnanswered reports whether an ended execution was unanswered: the keeper may not know yet of an answer.
func (l *Link) wasUnanswered(m *wire.ExecutionEnded) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := execution{sessionRun{m.ID, m.Run}, m.Number}
	_, is := l.answers.unanswered[e]
	delete(l.answers.unanswered, e)
	delete(l.answers.leftToKeeper, e)
	return is
}

// setListener registers the listener of a run's executions. Without files it removes the listener.
func (l *Link) setListener(at sessionRun, files []*os.File) {
	// Not the files themselves: the runtime polls them, and each execution would wake us.
	fds, err := wire.Duplicate(files...)
	closeAll(files)
	l.mu.Lock()
	defer l.mu.Unlock()
	a := &l.answers
	if h := a.listeners[at]; h != nil {
		l.removeListenerLocked(h)
	}
	switch {
	case err != nil: // executions arrive through the keeper
	case a.ended || len(fds) != 1:
		fds.Close()
	default:
		if a.listeners == nil {
			a.listeners = map[sessionRun]*sessionListener{}
		}
		a.listeners[at] = &sessionListener{sessionRun: at, fd: fds[0]}
	}
}

// closeLocked closes the listeners: without a keeper no process serves them.
func (a *answerState) closeLocked() {
	a.ended = true
	for _, h := range a.listeners {
		h.close()
	}
	a.listeners, a.receivedDirectly = nil, nil
	if a.timer != nil {
		a.timer.Stop()
	}
}

// Answer lets an execution happen (errno 0), or fail.
func (l *Link) Answer(e *wire.Execution, errno syscall.Errno) error {
	at := sessionRun{e.ID, e.Run}
	m := wire.ExecutionAnswer{ID: e.ID, Run: e.Run, Number: e.Number, Allow: errno == 0, Errno: int64(errno)}
	l.mu.Lock()
	defer l.mu.Unlock()
	a := &l.answers
	which := execution{at, e.Number}
	delete(a.unanswered, which)
	h := a.listeners[at]
	if h == nil {
		return l.conn.Write(&m)
	}
	err := sys.AnswerNotification(h.fd, e.Number, errno)
	switch taken := a.receivedDirectly[which] != nil; {
	case taken && (err == nil || errors.Is(err, fs.ErrNotExist)):
		delete(a.receivedDirectly, which)
		h.inbox.Clear(e.Number)
		return nil
	case taken:
		return errors.Join(l.leaveToKeeperLocked(which), l.conn.Write(&m))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return l.conn.Write(&m)
	}
	m.Done = true
	a.frames = wire.AppendFrame(a.frames, &m, 0)
	if a.batched++; a.batched >= batchSize {
		return l.sendAnswersLocked()
	}
	switch {
	case a.timer == nil:
		a.timer = time.AfterFunc(batchDelay, l.sendAnswers)
	case a.batched == 1:
		a.timer.Reset(batchDelay)
	}
	return nil
}

// sendAnswers sends the batched answers.
func (l *Link) sendAnswers() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.sendAnswersLocked() // the reading goroutine notices a lost connection
}

// sendAnswersLocked sends the batched answers. The caller holds mu.
func (l *Link) sendAnswersLocked() error {
	a := &l.answers
	if a.batched == 0 || a.ended {
		return nil
	}
	err := l.conn.WriteFrame(a.frames)
	a.frames, a.batched = a.frames[:0], 0
	return err
}
