package inputwait

import (
	"time"

	"github.com/longterm-dev/longterm/session/inputdetect"
)

// spentWait is the wait in which input came. The input ends it; while it lasts, the program has not read yet.
type spentWait struct {
	tid   int
	waits int64
	until time.Time // after that it counts again: the input may not have ended a line
}

// sees sets the innermost wait that a probe found.
func (w *spentWait) sees(r *inputdetect.Result) {
	for len(r.Relayed) > 0 {
		r = &r.Relayed[0].Probe
	}
	w.tid, w.waits = r.TID, r.WaitCount
}

// How long a program may take to read input.
const (
	spentFor      = 500 * time.Millisecond
	shellSpentFor = 5 * time.Second // to start a line
)

func (w *spentWait) same(r *inputdetect.Result, now time.Time) bool {
	for len(r.Relayed) > 0 {
		r = &r.Relayed[0].Probe
	}
	return w.waits > 0 && w.tid == r.TID && w.waits == r.WaitCount && now.Before(w.until)
}

// readWait is one thread's wait for the terminal, as long as it lasts.
type readWait struct {
	tid    int
	waits  int64     // what numbers the thread's waits
	since  time.Time // when it was first seen
	off    uint64    // of the output then
	beside bool      // another process printed during the wait
}

// readWaitSettles is how long output printed before a wait may still be in transit.
const readWaitSettles = 250 * time.Millisecond

// sees sets the wait that a probe found, and the output's offset. It reports whether others printed during the wait.
func (w *readWait) sees(r *inputdetect.Result, off uint64, now time.Time) bool {
	switch {
	case r.WaitCount < 0 || r.State != inputdetect.Reading && r.State != inputdetect.Polling:
		*w = readWait{}
	case w.tid != r.TID || w.waits != r.WaitCount:
		*w = readWait{tid: r.TID, waits: r.WaitCount, since: now, off: off}
	case off > w.off && now.Sub(w.since) < readWaitSettles:
		w.off = off
	case off > w.off:
		w.off, w.beside = off, true
	}
	return w.beside
}
