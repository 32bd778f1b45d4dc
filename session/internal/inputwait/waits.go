package inputwait

import (
	"time"

	"github.com/longterm-dev/longterm/session/evidence"
)

// spentWait is the wait that was there when something was typed: what was typed ends it, and as long as
// it is the same the program has only not got round to reading.
type spentWait struct {
	tid   int
	waits int64
	until time.Time // it was no end of a line, say
}

// sees takes the innermost wait that a probe found.
func (w *spentWait) sees(r *evidence.Result) {
	for len(r.Behind) > 0 {
		r = &r.Behind[0].Probe
	}
	w.tid, w.waits = r.TID, r.Waits
}

// How long a program gets to read what was typed.
const (
	spentFor      = 500 * time.Millisecond
	shellSpentFor = 5 * time.Second // to begin with a line
)

func (w *spentWait) same(r *evidence.Result, now time.Time) bool {
	for len(r.Behind) > 0 {
		r = &r.Behind[0].Probe
	}
	return w.waits > 0 && w.tid == r.TID && w.waits == r.Waits && now.Before(w.until)
}

// readWait is one thread's wait for the terminal, as long as it lasts.
type readWait struct {
	tid    int
	waits  int64     // what numbers the thread's waits
	since  time.Time // when it was first seen
	off    uint64    // of the output then
	beside bool      // something was printed meanwhile
}

// readWaitSettles is for how long output may still come that was printed before a wait began.
const readWaitSettles = 250 * time.Millisecond

// sees takes the wait that a probe found, and the output's offset, and reports if others printed
// something while it lasted.
func (w *readWait) sees(r *evidence.Result, off uint64, now time.Time) bool {
	switch {
	case r.Waits < 0 || r.State != evidence.Reading && r.State != evidence.Polling:
		*w = readWait{}
	case w.tid != r.TID || w.waits != r.Waits:
		*w = readWait{tid: r.TID, waits: r.Waits, since: now, off: off}
	case off > w.off && now.Sub(w.since) < readWaitSettles:
		w.off = off
	case off > w.off:
		w.off, w.beside = off, true
	}
	return w.beside
}
