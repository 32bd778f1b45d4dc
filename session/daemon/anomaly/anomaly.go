//go:build unix

// Package anomaly finds, while a command runs, the first line that its earlier failures printed and its good runs did not.
//
//	task starts → it runs for 2 s, or a caller waits → Host.FindFailures → new output, line by line → Host.Publish, waits
//
// A task is a command of a shell or the program of a session. Its output is read like any client reads it, on a goroutine of the
// host that ends with the task or its first anomaly; the session's owner does no work for it. Owners call Start and End, which do not
// wait. Tracker.mu guards all fields that change.
package anomaly

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/daemon/excerpt"
	"github.com/longterm-dev/longterm/session/internal/cpulimit"
)

const (
	// delay is how long a task runs before it is compared if no caller waits: most end sooner.
	delay = 2 * time.Second
	// readInterval is the shortest interval between reads of new output.
	readInterval = 250 * time.Millisecond
	// readStep bounds the output that is read without a pause, in bytes.
	readStep = 256 << 10
	// share is the reader's share of a core; floodShare is its share while it is more than floodLag bytes behind.
	share, floodShare = 0.25, 0.1
	floodLag          = 4 << 20
	// maxBehind is how many bytes reading may lag before output is skipped; keepBehind is how much of its end is then read.
	maxBehind, keepBehind = 64 << 20, 1 << 20
	// maxLine bounds the reported part of a line, in bytes.
	maxLine = 500
)

// Host is what a comparison needs of the task's daemon.
type Host interface {
	Session() *session.Session
	// FindFailures returns a predicate for lines that only earlier failed runs printed, or nil without runs to
	// compare with.
	FindFailures(ctx context.Context) (has func(line []byte) bool, err error)
	// ShouldPublish reports whether anomalies of the session are published.
	ShouldPublish() bool
	// Publish publishes an anomaly of the running task: a line and its output offset.
	Publish(line string, at uint64)
	// Go calls f on another goroutine, unless the daemon stops, and reports whether it does. It logs the error of f.
	Go(f func(context.Context) error, done func()) bool
}

// Tracker compares the newest task of a session with its earlier runs. The zero value has no task.
type Tracker struct {
	mu      sync.Mutex
	waiters int // callers that wait for an anomaly
	newest  *comparison
}

// comparison compares one task.
type comparison struct {
	tracker *Tracker
	host    Host
	number  int
	from    uint64        // offset of its output
	ended   chan struct{} // closed when the task has ended
	done    chan struct{} // closed when nothing more is compared

	to      uint64 // offset after the task's output, once ended is closed
	started bool
	timer   *time.Timer // starts it; nil: none
	found   session.Anomaly
}

// Start makes a task the newest: command number n of a shell, or a program (0). Its output starts at from. Call schedule once the
// session exists.
func (t *Tracker) Start(h Host, n int, from uint64, started time.Time) (schedule func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.newest != nil { // its end may not have been seen
		t.newest.endLocked(from)
	}
	c := &comparison{tracker: t, host: h, number: n, from: from, ended: make(chan struct{}), done: make(chan struct{})}
	t.newest = c
	return func() { c.schedule(started) }
}

// schedule starts the comparison once the task has run for a while, or now for callers that wait.
func (c *comparison) schedule(started time.Time) {
	c.tracker.mu.Lock()
	defer c.tracker.mu.Unlock()
	switch {
	case isClosed(c.ended):
	case c.tracker.waiters > 0:
		c.startLocked()
	case c.host.ShouldPublish():
		c.timer = time.AfterFunc(max(delay-time.Since(started), 0), func() {
			c.tracker.mu.Lock()
			defer c.tracker.mu.Unlock()
			if !isClosed(c.ended) {
				c.startLocked()
			}
		})
	}
}

// End records the end of a task's output.
func (t *Tracker) End(n int, to uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.newest != nil && t.newest.number == n {
		t.newest.endLocked(to)
	}
}

func (c *comparison) endLocked(to uint64) {
	if isClosed(c.ended) {
		return
	}
	c.to = to
	close(c.ended)
	if c.timer != nil {
		c.timer.Stop()
	}
	c.reportEndLocked()
}

// reportEndLocked reports to waiting callers that the task has ended and was compared, once both are true.
func (c *comparison) reportEndLocked() {
	if isClosed(c.done) && isClosed(c.ended) {
		c.found.ComparedTo = c.to
		c.host.Session().SetAnomaly(c.found)
	}
}

// startLocked starts the comparison, once.
func (c *comparison) startLocked() {
	if c.started {
		return
	}
	c.started = true
	if !c.host.Go(c.run, func() {
		c.tracker.mu.Lock()
		defer c.tracker.mu.Unlock()
		c.finishLocked()
	}) {
		c.finishLocked()
	}
}

func (c *comparison) finishLocked() {
	close(c.done)
	c.reportEndLocked()
}

// AddWaiter starts to compare the newest task at once, and tasks that start before the caller calls stop. It does not
// wait.
func (t *Tracker) AddWaiter() (stop func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiters++
	if t.newest != nil {
		t.newest.startLocked()
	}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.waiters--
	}
}

// AwaitCompared waits until the newest task was compared. Call it after AddWaiter, which starts the comparison at once. It
// fails only with ctx.
func (t *Tracker) AwaitCompared(ctx context.Context) error {
	t.mu.Lock()
	c := t.newest
	t.mu.Unlock()
	if c == nil {
		return nil
	}
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run compares the task until it ends or has an anomaly.
func (c *comparison) run(ctx context.Context) error {
	has, err := c.host.FindFailures(ctx)
	if err != nil || has == nil {
		return err
	}
	s, found := c.host.Session(), false
	lines := excerpt.NewLineReader(s, c.from, false, func(line []byte, at uint64) {
		if !found && has(line) {
			found = true
			c.report(line, at)
		}
	})
	w := s.Watch()
	defer w.Close()
	var pauses cpulimit.Throttle
	for {
		to, ended := c.readLimit()
		for !found && lines.Offset() < to {
			began, from := time.Now(), lines.Offset()
			if to-from > maxBehind {
				lines.Skip(to - keepBehind)
			}
			if err := lines.Read(ctx, min(to, lines.Offset()+readStep)); err != nil {
				return err
			}
			if lines.Offset() == from {
				break
			}
			if err := pauses.Pause(ctx, time.Since(began), shareFor(to-from, ended)); err != nil {
				return err
			}
		}
		if ended {
			lines.Finish()
		}
		if found || ended {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-w.Done:
			if !isClosed(c.ended) {
				return nil
			}
		case <-c.ended:
		case <-w.Output:
			select {
			case <-ctx.Done():
				return nil
			case <-c.ended:
			case <-time.After(readInterval):
			}
		}
	}
}

// shareFor returns the reader's share of a core while the task runs, or after it has ended.
func shareFor(behind uint64, ended bool) float64 {
	if !ended && behind > floodLag {
		return floodShare
	}
	return share
}

// readLimit returns the offset up to which output can be read, and whether the task's output ends there.
func (c *comparison) readLimit() (to uint64, ended bool) {
	c.tracker.mu.Lock()
	defer c.tracker.mu.Unlock()
	if isClosed(c.ended) {
		return c.to, true
	}
	_, to = c.host.Session().OutputRange()
	return to, false
}

// report reports an anomaly to waiting callers, and publishes it while the task runs.
func (c *comparison) report(line []byte, at uint64) {
	text := strings.TrimSpace(strings.ToValidUTF8(string(line[:min(len(line), maxLine)]), ""))
	c.tracker.mu.Lock()
	c.found = session.Anomaly{Line: text, At: at}
	c.host.Session().SetAnomaly(c.found)
	c.tracker.mu.Unlock()
	if !isClosed(c.ended) && c.host.ShouldPublish() {
		c.host.Publish(text, at)
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
