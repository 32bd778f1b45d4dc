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

// Newest selects a session's newest command.
const Newest = -1

// task is a command of a session's shell, or its program (n 0).
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

// activity holds the newest task of a session and its progress.
type activity struct {
	mu           sync.Mutex
	n            int // number of the newest task
	state        progress.State
	at           time.Time // time of state
	known        bool      // state is set
	running      bool
	lastEnded    int           // number of the newest command that ended
	ends         chan outcome  // receives the outcome for the running task's watcher
	readRequests chan struct{} // requests that the watcher reads now; nil without a watcher
	readTo       uint64        // offset up to which the watcher has read
	readers      []reader      // callers that wait for readTo
	wake         func()        // wakes a sleeping watcher; nil while it runs
	interactive  bool          // it needed input or uses the whole screen, so its duration depends on the user
}

// reader waits until the output is read up to an offset.
type reader struct {
	upTo uint64
	done chan struct{}
}

// readTimeout bounds how long an answer waits until output is read, which may be behind a flood.
const readTimeout = 2 * readInterval

// awaitRead waits until the watcher of the newest task has read the output before an offset, and all of it if the task
// has ended: a caller that saw a line on the screen finds it in the task's activity. It fails only with ctx.
func (w *activity) awaitRead(ctx context.Context, end uint64) error {
	done := w.requestRead(end)
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

// requestRead requests that the watcher reads up to end, and returns a channel that is closed when it has. It returns nil if it already has.
func (w *activity) requestRead(end uint64) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.readRequests == nil:
		return nil
	case w.ends == nil:
		end = math.MaxUint64 // the end of the task is awaited too
	case w.readTo >= end:
		return nil
	}
	r := reader{upTo: end, done: make(chan struct{})}
	w.readers = append(w.readers, r)
	select {
	case w.readRequests <- struct{}{}:
	default: // it is about to
	}
	return r.done
}

// requests returns the channel by which the watcher of a task receives read requests.
func (w *activity) requests() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.readRequests
}

// watcherStopped records that a task's watcher has stopped.
func (w *activity) watcherStopped(requests <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.readRequests == requests { // no newer task is watched
		w.readRequests = nil
		w.readLocked(w.readTo, false)
	}
}

// readLocked records how far the watcher has read and releases the callers that waited for that, or all if on is false.
func (w *activity) readLocked(to uint64, on bool) {
	w.readTo = to
	w.readers = slices.DeleteFunc(w.readers, func(r reader) bool {
		if on && r.upTo > to {
			return false
		}
		close(r.done)
		return true
	})
}

// view returns the activity of the n-th command, or of the newest, or nil if it is unknown.
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
	s.HasETA = s.HasETA && (!w.interactive || s.Progress.Kind != progress.None)
	return activityView(w.n, &s, w.running)
}

// setInteractive records that a user works with the newest task, such as an editor, a pager or a REPL, or that it needs
// input. Durations of earlier runs then predict nothing.
func (w *activity) setInteractive() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.interactive = w.running || !w.known
}

// isInteractive reports whether a user works with the newest task.
func (w *activity) isInteractive() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.interactive
}

// activityView returns progress in its API form.
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

// set records a task's progress and how far its output was read, unless a newer task runs.
func (w *activity) set(n int, s progress.State, at time.Time, running bool, read uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n >= w.n {
		w.n, w.state, w.at, w.known, w.running = n, s, at, true, running
		w.readLocked(read, running)
	}
}

// start makes a task the newest and returns the channel for its outcome, or nil if it has already ended.
func (w *activity) start(n int) <-chan outcome {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n > 0 && n <= w.lastEnded {
		return nil
	}
	ends := make(chan outcome, 1)
	if w.ends != nil {
		close(w.ends) // its end was not seen
		w.wakeLocked()
	}
	w.n, w.ends, w.known, w.interactive = n, ends, false, false
	w.readRequests = make(chan struct{}, 1)
	return ends
}

// end reports a task's outcome to its watcher.
func (w *activity) end(n int, how outcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lastEnded = max(w.lastEnded, n)
	if w.ends != nil && n == w.n {
		w.ends <- how
		w.ends = nil
		w.wakeLocked()
	}
}

// sleep sets the function that wakes the watcher of a task, which has read up to an offset. ok is false if the task has
// ended.
func (w *activity) sleep(ends <-chan outcome, read uint64, wake func()) (ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ends != ends {
		return false
	}
	w.readLocked(read, true)
	w.wake = wake
	return true
}

// watcherRuns records that the watcher runs again.
func (w *activity) watcherRuns(ends <-chan outcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ends == ends {
		w.wake = nil
	}
}

// wakeLocked wakes a sleeping watcher. The caller holds mu.
func (w *activity) wakeLocked() {
	if w.wake != nil {
		go w.wake()
		w.wake = nil
	}
}
