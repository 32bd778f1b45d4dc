package inputwait

import (
	"time"

	"github.com/longterm-dev/longterm/session/inputdetect"
)

// answeredWait is the program's wait in which input came. The input ends it. While the kernel still reports the same wait,
// the program has not read the input.
type answeredWait struct {
	tid   int       // thread that waits
	waits int64     // number of the thread's wait
	until time.Time // afterwards the wait counts again: the input may not have ended a line
}

// set stores the innermost wait that a probe found.
func (w *answeredWait) set(r *inputdetect.Result) {
	for len(r.Relayed) > 0 {
		r = &r.Relayed[0].Probe
	}
	w.tid, w.waits = r.TID, r.WaitCount
}

// How long a program may take to read input.
const (
	maxInputReadTime = 500 * time.Millisecond
	maxShellReadTime = 5 * time.Second // to start a line
)

// isSame reports whether a probe found the spent wait.
func (w *answeredWait) isSame(r *inputdetect.Result, now time.Time) bool {
	for len(r.Relayed) > 0 {
		r = &r.Relayed[0].Probe
	}
	return w.waits > 0 && w.tid == r.TID && w.waits == r.WaitCount && now.Before(w.until)
}

// readWait is one thread's wait for the terminal while it lasts.
type readWait struct {
	tid           int       // thread that waits
	waits         int64     // number of the thread's wait
	since         time.Time // when it was first seen
	off           uint64    // output offset then
	othersPrinted bool      // another process printed during the wait
}

// transitTime is how long output printed before a wait may still be in transit.
const transitTime = 250 * time.Millisecond

// update sets the wait that a probe found, and the output's offset. It reports whether others printed during the wait.
func (w *readWait) update(r *inputdetect.Result, off uint64, now time.Time) bool {
	switch {
	case r.WaitCount < 0 || r.State != inputdetect.Reading && r.State != inputdetect.Polling:
		*w = readWait{}
	case w.tid != r.TID || w.waits != r.WaitCount:
		*w = readWait{tid: r.TID, waits: r.WaitCount, since: now, off: off}
	case off > w.off && now.Sub(w.since) < transitTime:
		w.off = off
	case off > w.off:
		w.off, w.othersPrinted = off, true
	}
	return w.othersPrinted
}
