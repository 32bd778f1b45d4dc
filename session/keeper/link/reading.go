//go:build unix

package link

import (
	"errors"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/wire"
)

// A program waits in execve until it is checked, and each goroutine and thread woken in between costs it more than the
// check. So the goroutine that reads the socket also checks, unless more data has arrived. If a check takes longer than
// a moment (an approval, a slow file system), another goroutine reads on.

const (
	// handOffAfter is how long an execution is checked, at most twice, before another goroutine continues to read.
	handOffAfter = 50 * time.Millisecond
	// slowCheckWatch is how long after an execution the reading goroutine is watched for a slow check.
	slowCheckWatch = 200 * time.Millisecond
)

// readerState is the state of the reading goroutine. Guarded by Link.mu.
type readerState struct {
	sequence   uint64     // counts checks and handoffs
	checking   bool       // a check is in progress
	checkEnded time.Time  // end of the last check
	isWatched  bool       // watch is running
	wait       readerWait // used by the reading goroutine
}

// read reads until the connection ends, or another goroutine takes over.
func (l *Link) read() {
	for {
		if !l.conn.HasBufferedFrame() && !l.receiveExecutions() {
			return
		}
		f, files, err := l.conn.Read()
		// Descriptors without room affect the caller, not the connection.
		if err != nil && !errors.Is(err, wire.ErrDescriptors) {
			break
		}
		m, judge, err := l.receive(f, files)
		if err != nil {
			break
		}
		switch {
		case judge == nil:
		case l.conn.HasBufferedFrame(): // the processors have enough to do
			go judge(func() {})
		case !l.check(judge):
			return
		default:
			l.receiveDirectly(m)
		}
	}
	l.fail()
}

// check checks a received execution and reports whether the caller continues to read.
func (l *Link) check(judge func(async func())) bool {
	r := &l.reading
	l.mu.Lock()
	r.sequence++
	turn := r.sequence
	r.checking = true
	if !r.isWatched {
		r.isWatched = true
		go l.watch()
	}
	l.mu.Unlock()
	judge(func() { l.handOffReader(turn) })
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.sequence != turn {
		return false
	}
	r.checking, r.checkEnded = false, time.Now()
	return true
}

// handOffReader starts another reader if the current one is still in the same check.
func (l *Link) handOffReader(turn uint64) {
	r := &l.reading
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.sequence != turn || !r.checking { // the check has ended since
		return
	}
	r.sequence++
	r.checking, r.checkEnded = false, time.Now()
	go l.read()
}

// watch starts another reader when a check takes long, while executions arrive.
func (l *Link) watch() {
	r := &l.reading
	tick := time.NewTicker(handOffAfter)
	defer tick.Stop()
	seen := uint64(0)
	for {
		select {
		case <-l.closedC:
			return
		case <-tick.C:
		}
		l.mu.Lock()
		turn, judging := r.sequence, r.checking
		if !judging && time.Since(r.checkEnded) > slowCheckWatch {
			r.isWatched = false
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		if judging && turn == seen {
			l.handOffReader(turn)
		}
		seen = turn
	}
}
