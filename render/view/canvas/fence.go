package canvas

import (
	"bytes"
	"sync"
	"time"
)

// fence counts the queries of device attributes (DA1) that a terminal has not answered. A terminal answers in order: after the
// last answer no earlier one is left that a shell would read as typed.
type fence struct {
	mu       sync.Mutex // guards the rest
	first    time.Time  // time of the first query
	pending  int
	answered bool
	change   chan struct{} // closed and replaced with each answer; nil: nothing waits
}

const (
	// askAttributes is DA1, which all terminals answer.
	askAttributes = "\x1b[c"
	// muteTime is how long a terminal may take for its first answer; one that takes longer is not waited for.
	muteTime = 2 * time.Second
	// lastAnswerTime bounds waiting for the last answer of a terminal that has answered before.
	lastAnswerTime = time.Second
	// quietly ends all reports that a terminal sends by itself.
	quietly = "\x1b[=1;1u\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?2031l"
)

// wrote counts the questions in what is written.
func (f *fence) wrote(p []byte, now time.Time) {
	n := bytes.Count(p, []byte(askAttributes))
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

// answeredBy counts answers.
func (f *fence) answeredBy(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending, f.answered = max(f.pending-n, 0), true
	if f.change != nil {
		close(f.change)
		f.change = nil
	}
}

// patience returns how long the terminal's last answer may take from now on; 0: none is to come.
func (f *fence) patience(now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.first.IsZero():
		return 0
	case f.answered:
		return lastAnswerTime
	}
	return max(muteTime-now.Sub(f.first), 0)
}

// wait waits until nothing is pending, the time is over, or the terminal is closed.
func (f *fence) wait(limit time.Duration, gone <-chan struct{}) {
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
		case <-gone:
			return
		}
	}
}

// Start implements tcell.Tty.
func (h *hearing) Start() error {
	h.leaving.Store(false)
	return h.Tty.Start()
}

// Drain implements tcell.Tty. The screen calls it before it gives the terminal up. What the terminal still sends is read until it
// has answered all questions; keys among it are dropped.
func (h *hearing) Drain() error {
	if limit := h.fence.patience(time.Now()); limit > 0 {
		h.leaving.Store(true)
		gone := make(chan struct{})
		go func() { // the screen's reader may have ended already
			defer close(gone)
			p := make([]byte, 256)
			for {
				if n, err := h.hear(p); n <= 0 || err != nil {
					return
				}
			}
		}()
		_, _ = h.Write([]byte(quietly + askAttributes)) // a closed terminal answers nothing
		h.fence.wait(limit, gone)
	}
	return h.Tty.Drain()
}
