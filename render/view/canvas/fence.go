package canvas

import (
	"bytes"
	"sync"
	"time"
)

// fence counts the queries of device attributes (DA1) that a terminal has not answered. A terminal answers in order: after the
// last answer none can arrive that a shell would read as typed.
type fence struct {
	mu       sync.Mutex // guards the rest
	first    time.Time  // time of the first query
	pending  int
	answered bool
	change   chan struct{} // closed and replaced with each answer; nil if no goroutine waits
}

const (
	// queryAttributes is DA1, which all terminals answer.
	queryAttributes = "\x1b[c"
	// firstAnswerTime bounds the wait for a terminal that has never answered.
	firstAnswerTime = 2 * time.Second
	// lastAnswerTime bounds the wait for the last answer of a terminal that has answered before.
	lastAnswerTime = time.Second
	// stopReports ends all reports that a terminal sends by itself.
	stopReports = "\x1b[=1;1u\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?2031l"
)

// countQueries counts the queries in text that is written to the terminal.
func (f *fence) countQueries(p []byte, now time.Time) {
	n := bytes.Count(p, []byte(queryAttributes))
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

// countAnswers removes n answered queries and wakes wait.
func (f *fence) countAnswers(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending, f.answered = max(f.pending-n, 0), true
	if f.change != nil {
		close(f.change)
		f.change = nil
	}
}

// answerTimeout returns how long to wait for the terminal's last answer, 0 if no answer can come.
func (f *fence) answerTimeout(now time.Time) time.Duration {
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

// wait waits until no query is pending, limit is over, or closed is closed.
func (f *fence) wait(limit time.Duration, closed <-chan struct{}) {
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

// Start implements tcell.Tty.
func (h *hearing) Start() error {
	h.leaving.Store(false)
	return h.Tty.Start()
}

// Drain implements tcell.Tty. The screen calls it before it releases the terminal. Drain reads until the terminal has answered
// all queries, and drops keys.
func (h *hearing) Drain() error {
	if limit := h.fence.answerTimeout(time.Now()); limit > 0 {
		h.leaving.Store(true)
		closed := make(chan struct{})
		go func() { // the screen's reader may have ended already
			defer close(closed)
			p := make([]byte, 256)
			for {
				if n, err := h.hear(p); n <= 0 || err != nil {
					return
				}
			}
		}()
		_, _ = h.Write([]byte(stopReports + queryAttributes)) // a closed terminal answers nothing
		h.fence.wait(limit, closed)
	}
	return h.Tty.Drain()
}
