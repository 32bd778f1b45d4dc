package outer

import (
	"bytes"
	"sync"
	"time"
)

// Fence counts the queries of device attributes (DA1) that a terminal has not answered. A terminal answers in order, so
// once it has answered the last one, no answer can arrive later and reach a shell as typed input. Its methods may be
// called from any goroutine.
type Fence struct {
	mu       sync.Mutex // guards the fields below
	first    time.Time  // time of the first query
	pending  int
	answered bool
	change   chan struct{} // closed and replaced with each answer; nil if no goroutine waits
}

const (
	// firstAnswerTime is the timeout for a terminal that has never answered.
	firstAnswerTime = 2 * time.Second
	// lastAnswerTime is the timeout for the last answer of a terminal that has answered before.
	lastAnswerTime = time.Second
)

// CountQueries counts the queries in text that is written to the terminal.
func (f *Fence) CountQueries(p []byte, now time.Time) {
	n := bytes.Count(p, []byte(Attributes))
	if n == 0 && !bytes.Contains(p, []byte("]11;?")) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending += n
	if f.first.IsZero() {
		f.first = now
	}
}

// CountAnswers removes n answered queries and wakes Wait.
func (f *Fence) CountAnswers(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending, f.answered = max(f.pending-n, 0), true
	if f.change != nil {
		close(f.change)
		f.change = nil
	}
}

// Timeout returns how long to wait for the terminal's last answer, or 0 if none is expected.
func (f *Fence) Timeout(now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.first.IsZero():
		return 0
	case f.answered:
		return lastAnswerTime
	}
	return max(firstAnswerTime-now.Sub(f.first), 0)
}

// Pending reports whether the terminal has not answered all queries, and may still.
func (f *Fence) Pending(now time.Time) bool {
	f.mu.Lock()
	pending := f.pending > 0
	f.mu.Unlock()
	return pending && f.Timeout(now) > 0
}

// Wait waits until no query is pending, limit is over, or closed is closed.
func (f *Fence) Wait(limit time.Duration, closed <-chan struct{}) {
	late := time.NewTimer(limit)
	defer late.Stop()
	for {
		f.mu.Lock()
		if f.pending == 0 {
			f.mu.Unlock()
			return
		}
		if f.change == nil {
			f.change = make(chan struct{})
		}
		change := f.change
		f.mu.Unlock()
		select {
		case <-change:
		case <-late.C:
			return
		case <-closed:
			return
		}
	}
}
