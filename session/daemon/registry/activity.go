//go:build unix

package registry

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/output/progress"
)

// Newest stands for the number of a session's newest command.
const Newest = -1

// task is something that runs in a session: a command of its shell, or its program (n 0).
type task struct {
	n            int
	command, cwd string
	argv         []string // of a program
	from         uint64   // offset of its output
	began        time.Time
}

// outcome is how a task ended.
type outcome struct {
	to     uint64 // offset after its output
	at     time.Time
	exit   *int
	signal string
}

// activity is the newest task of a session and what is known of it.
type activity struct {
	mu      sync.Mutex
	n       int
	state   progress.State
	at      time.Time // when state was
	known   bool
	running bool
	over    int           // number of the newest command that ended
	ends    chan outcome  // to the watcher of the task that runs
	asked   chan struct{} // has it look now; nil: nobody reads
	read    uint64        // up to where it has read
	readers []reader      // wait for it
	asleep  func()        // wakes it; nil: it is awake
	person  bool          // it has waited for a person, or has the whole screen: how long it takes is up to them
}

// reader waits until the output is read up to an offset.
type reader struct {
	upTo uint64
	done chan struct{}
}

// lookTime bounds how long an answer waits until output is read, which may be behind a flood.
const lookTime = 2 * followEvery

// upTo waits until the watcher of the newest task has read the output before an offset, and all of it if the task has ended:
// a caller that saw a line on the screen finds it in the task's activity. It fails only with ctx.
func (w *activity) upTo(ctx context.Context, end uint64) error {
	done := w.ask(end)
	if done == nil {
		return nil
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ask has the watcher look now, and is told when it has read up to an offset; nil: it has.
func (w *activity) ask(end uint64) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.asked == nil:
		return nil
	case w.ends == nil:
		end = math.MaxUint64 // what is told at its end is awaited
	case w.read >= end:
		return nil
	}
	r := reader{upTo: end, done: make(chan struct{})}
	w.readers = append(w.readers, r)
	select {
	case w.asked <- struct{}{}:
	default: // it is about to
	}
	return r.done
}

// looks is where the watcher of a task is asked to look at once.
func (w *activity) looks() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked
}

// leaves notes that a task's watcher reads no more.
func (w *activity) leaves(asks <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asked == asks { // no newer task is watched
		w.asked = nil
		w.readLocked(w.read, false)
	}
}

// readLocked lets those go on who wait for what is read by now, and all of them when nobody reads on.
func (w *activity) readLocked(to uint64, on bool) {
	w.read = to
	w.readers = slices.DeleteFunc(w.readers, func(r reader) bool {
		if on && r.upTo > to {
			return false
		}
		close(r.done)
		return true
	})
}

// view is what clients see of the n-th command, or of the newest; nil: nothing is known.
func (w *activity) view(n int) *api.Activity {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.known || n != Newest && n != w.n {
		return nil
	}
	s := w.state
	if w.running {
		since := time.Since(w.at)
		s.Elapsed += since
		s.ETA = max(s.ETA-since, 0)
	}
	s.HasETA = s.HasETA && (!w.person || s.Progress.Kind != progress.None)
	return activityView(w.n, &s, w.running)
}

// takesPerson notes that the newest task is one that a person works with: an editor, a pager, a REPL, or one that asks. How
// long it took before says nothing of how long it will.
func (w *activity) takesPerson() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.person = w.running || !w.known
}

// personal reports whether a person works with the newest task.
func (w *activity) personal() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.person
}

func activityView(n int, s *progress.State, running bool) *api.Activity {
	a := &api.Activity{N: n, Running: running, Errors: s.Errors, Warnings: s.Warnings, ElapsedMS: s.Elapsed.Milliseconds(), Partial: s.Partial}
	if p := s.Progress; p.Kind != progress.None {
		a.Progress = &api.Progress{State: string(p.Kind), Percent: int(p.Fraction * 100), Current: p.Current, Total: p.Total, Label: p.Label, Reported: p.Reported}
	}
	if f := s.First; f != nil {
		a.FirstError = &api.Problem{File: f.File, Line: f.Line, Column: f.Column, Message: f.Message, Offset: f.Offset}
	}
	if s.HasETA && running {
		ms, due := s.ETA.Milliseconds(), time.Now().Add(s.ETA)
		a.ETAMS, a.Due = &ms, &due
	}
	return a
}

// set notes how a task stands of which all is read up to an offset, unless a newer one runs.
func (w *activity) set(n int, s progress.State, at time.Time, running bool, read uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n >= w.n {
		w.n, w.state, w.at, w.known, w.running = n, s, at, true, running
		w.readLocked(read, running)
	}
}

// begins makes a task the newest; nil: it is over already.
func (w *activity) begins(n int) <-chan outcome {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n > 0 && n <= w.over {
		return nil
	}
	ends := make(chan outcome, 1)
	if w.ends != nil {
		close(w.ends) // its end was not seen
		w.wakeLocked()
	}
	w.n, w.ends, w.known, w.person = n, ends, false, false
	w.asked = make(chan struct{}, 1)
	return ends
}

// ended tells the task's watcher.
func (w *activity) ended(n int, how outcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = max(w.over, n)
	if w.ends != nil && n == w.n {
		w.ends <- how
		w.ends = nil
		w.wakeLocked()
	}
}

// atEnd has the watcher that is told of its task's end by a channel woken by it, which has read up to an offset; not ok: the
// task has ended.
func (w *activity) atEnd(ends <-chan outcome, read uint64, wake func()) (ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ends != ends {
		return false
	}
	w.readLocked(read, true)
	w.asleep = wake
	return true
}

// awake says that the watcher is there again.
func (w *activity) awake(ends <-chan outcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ends == ends {
		w.asleep = nil
	}
}

func (w *activity) wakeLocked() {
	if w.asleep != nil {
		go w.asleep()
		w.asleep = nil
	}
}
