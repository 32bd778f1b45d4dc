//go:build unix

package link

import (
	"errors"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/wire"
)

// A program waits in execve until it is judged, and each goroutine and thread that has to be woken in between costs it
// more than the judging. So who reads the socket judges, too, unless more has come already. When that takes longer than a
// moment, because a person is asked or a file system hangs, another goroutine reads on: nobody else waits for it.

const (
	// asideAfter is how long an execution is judged, at most twice, before another goroutine reads on.
	asideAfter = 50 * time.Millisecond
	// lookedAfter is how long after an execution it is looked whether that is so.
	lookedAfter = 200 * time.Millisecond
)

// reading is who reads, and whether it judges. Guarded by Link.mu.
type reading struct {
	turn    uint64 // counts what was judged, and who was relieved
	judging bool
	ended   time.Time // when it judged last
	watched bool
	hearing hearing // of who reads
}

// read reads until the connection ends, or another one does instead.
func (l *Link) read() {
	for {
		if !l.conn.More() && !l.hear() {
			return
		}
		f, files, err := l.conn.Read()
		// Descriptors that found no room are the asker's trouble, not the connection's.
		if err != nil && !errors.Is(err, wire.ErrDescriptors) {
			break
		}
		m, judge, err := l.receive(f, files)
		if err != nil {
			break
		}
		switch {
		case judge == nil:
		case l.conn.More(): // the processors have enough to do
			go judge(func() {})
		case !l.judge(judge):
			return
		default:
			l.expect(m)
		}
	}
	l.fail()
}

// judge judges what was read, and says whether who did it reads on.
func (l *Link) judge(judge func(aside func())) bool {
	r := &l.reading
	l.mu.Lock()
	r.turn++
	turn := r.turn
	r.judging = true
	if !r.watched {
		r.watched = true
		go l.watch()
	}
	l.mu.Unlock()
	judge(func() { l.aside(turn) })
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.turn != turn {
		return false
	}
	r.judging, r.ended = false, time.Now()
	return true
}

// aside has another goroutine read on, if who reads is still at what it judged then.
func (l *Link) aside(turn uint64) {
	r := &l.reading
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.turn != turn || !r.judging { // it has ended since it was looked
		return
	}
	r.turn++
	r.judging, r.ended = false, time.Now()
	go l.read()
}

// watch looks, while executions come, whether one takes long.
func (l *Link) watch() {
	r := &l.reading
	tick := time.NewTicker(asideAfter)
	defer tick.Stop()
	seen := uint64(0)
	for {
		select {
		case <-l.gone:
			return
		case <-tick.C:
		}
		l.mu.Lock()
		turn, judging := r.turn, r.judging
		if !judging && time.Since(r.ended) > lookedAfter {
			r.watched = false
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		if judging && turn == seen {
			l.aside(turn)
		}
		seen = turn
	}
}
