//go:build unix

package registry

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/excerpt"
	"github.com/longterm-dev/longterm/session/internal/cpulimit"
	"github.com/longterm-dev/longterm/store"
)

const (
	// compareStep bounds the output that is read without a pause, in bytes.
	compareStep = 256 << 10
	// maxAnomalyLine bounds the line of an anomaly, in bytes.
	maxAnomalyLine = 500
)

// anomalies compares the newest task of a session with its earlier runs.
type anomalies struct {
	mu      sync.Mutex
	awaited int // callers that wait for an anomaly
	newest  *comparison
}

// comparison finds the first line of a task that earlier failures of it printed and its good runs did not. It reads output like any
// client, at no cost to the session's owner. anomalies.mu guards the fields after ended.
type comparison struct {
	reg   *Registry
	set   *watchers
	e     *Handle
	task  task
	ended chan struct{} // closed when the task has ended
	done  chan struct{} // closed when the task was compared, or not compared

	to       uint64 // offset after the task's output, once ended is closed
	started  bool
	timer    *time.Timer // starts it; nil: none
	anomaly  session.Anomaly
	finished bool // done is closed
}

// begin makes a task the newest.
func (a *anomalies) begin(w *watchers, e *Handle, t task) *comparison {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.newest != nil { // its end may not have been seen
		a.newest.endLocked(t.from)
	}
	a.newest = &comparison{reg: w.reg, set: w, e: e, task: t, ended: make(chan struct{}), done: make(chan struct{})}
	return a.newest
}

// schedule starts the comparison once the task has run for pastDelay, if the configuration wants it, or now for callers that wait.
func (c *comparison) schedule() {
	a := &c.e.anomalies
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case closed(c.ended):
	case a.awaited > 0:
		c.startLocked()
	case c.isWanted():
		c.timer = time.AfterFunc(max(pastDelay-time.Since(c.task.began), 0), func() {
			a.mu.Lock()
			defer a.mu.Unlock()
			if !closed(c.ended) {
				c.startLocked()
			}
		})
	}
}

// isWanted reports whether the configuration wants events about the session's anomalies.
func (c *comparison) isWanted() bool {
	which := c.reg.conf.Get().Alerts.Anomaly
	return which == "all" || which == "users" && c.e.Record().Agent == ""
}

// end records the end of a task's output. Owners call it.
func (a *anomalies) end(n int, to uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.newest != nil && a.newest.task.n == n {
		a.newest.endLocked(to)
	}
}

func (c *comparison) endLocked(to uint64) {
	if closed(c.ended) {
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
	if c.finished && closed(c.ended) {
		c.anomaly.ComparedTo = c.to
		c.e.Session.SetAnomaly(c.anomaly)
	}
}

// startLocked starts the comparison, once.
func (c *comparison) startLocked() {
	if c.started {
		return
	}
	c.started = true
	if !c.set.run(c.run) {
		c.finishLocked()
	}
}

func (c *comparison) finishLocked() {
	c.finished = true
	close(c.done)
	c.reportEndLocked()
}

// AwaitAnomaly compares the newest task, and those that start before the caller calls stop, with their earlier runs.
func (e *Handle) AwaitAnomaly() (stop func()) {
	a := &e.anomalies
	a.mu.Lock()
	defer a.mu.Unlock()
	a.awaited++
	if a.newest != nil {
		a.newest.startLocked()
	}
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.awaited--
	}
}

// AwaitCompared waits until the newest task was compared, after AwaitAnomaly. It fails only with ctx.
func (e *Handle) AwaitCompared(ctx context.Context) error {
	e.anomalies.mu.Lock()
	c := e.anomalies.newest
	e.anomalies.mu.Unlock()
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

// run compares the task until it ends or prints an anomaly.
func (c *comparison) run(ctx context.Context) {
	if err := recoverPanics(c.reg.log, "compare a command's output", c.e.ID(), func() error { return c.follow(ctx) }); err != nil && ctx.Err() == nil {
		c.reg.log.Warn("compare a command with its earlier runs", "session", c.e.ID(), "err", err)
	}
	c.e.anomalies.mu.Lock()
	defer c.e.anomalies.mu.Unlock()
	c.finishLocked()
}

func (c *comparison) follow(ctx context.Context) error {
	has, err := c.findFailures(ctx)
	if err != nil || has == nil {
		return err
	}
	found := false
	lines := excerpt.NewLineReader(c.e.Session, max(c.task.from, c.task.ownFrom), false, func(line []byte, at uint64) {
		if !found && has(line) {
			found = true
			c.report(line, at)
		}
	})
	w := c.e.Session.Watch()
	defer w.Close()
	var pauses cpulimit.Throttle
	for {
		to, ended := c.end()
		for !found && lines.Offset() < to {
			began, from := time.Now(), lines.Offset()
			behind := to - from
			if behind > maxBehind {
				lines.Skip(to - keepBehind)
			}
			if err := lines.Read(ctx, min(to, lines.Offset()+compareStep)); err != nil {
				return err
			}
			if lines.Offset() == from {
				break
			}
			if err := pauses.Pause(ctx, time.Since(began), shareOfFollowing(behind, !ended)); err != nil {
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
			if !closed(c.ended) {
				return nil
			}
		case <-c.ended:
			continue
		case <-w.Output:
		}
		select {
		case <-ctx.Done():
			return nil
		case <-c.ended:
		case <-time.After(readInterval):
		}
	}
}

// end returns the offset up to which to read, and whether it is the end of the task.
func (c *comparison) end() (to uint64, ended bool) {
	c.e.anomalies.mu.Lock()
	defer c.e.anomalies.mu.Unlock()
	if closed(c.ended) {
		return c.to, true
	}
	return c.e.outputEnd(), false
}

// findFailures calls FindFailures, for one task at a time: hundreds at once would leave no processor to others.
func (c *comparison) findFailures(ctx context.Context) (has func([]byte) bool, err error) {
	if c.reg.FindFailures == nil {
		return nil, nil
	}
	select {
	case c.reg.comparing <- struct{}{}:
		defer func() { <-c.reg.comparing }()
	case <-ctx.Done():
		return nil, nil
	}
	c.reg.Flush(ctx)
	known, err := c.reg.FindFailures(ctx, c.e, &store.Command{
		Session: c.e.ID(), N: c.task.n, Text: c.task.command, Cwd: c.task.cwd, State: store.CommandRunning, Started: c.task.began, From: c.task.from,
	})
	if err != nil || known == nil {
		return nil, err
	}
	return known.Has, nil
}

// report reports an anomaly to waiting callers, and publishes it while the task runs.
func (c *comparison) report(line []byte, at uint64) {
	found := api.Anomaly{
		Command: c.task.n, Text: c.task.command, Offset: at,
		Line: strings.TrimSpace(strings.ToValidUTF8(string(line[:min(len(line), maxAnomalyLine)]), "")),
	}
	a := &c.e.anomalies
	a.mu.Lock()
	c.anomaly = session.Anomaly{Line: found.Line, At: at}
	c.e.Session.SetAnomaly(c.anomaly)
	a.mu.Unlock()
	if !c.isWanted() || closed(c.ended) {
		return
	}
	if c.reg.JobOf != nil {
		found.Job = c.reg.JobOf(c.e, c.task.n, c.task.command)
	}
	c.reg.publishAnomaly(c.e, &found)
}

// publishAnomaly publishes an anomaly of a session's running task.
func (h *Registry) publishAnomaly(e *Handle, a *api.Anomaly) {
	e.publishing.Lock() // keeps states in order
	defer e.publishing.Unlock()
	view := h.Describe(e, e.Session.Status())
	h.Bus.Send(api.Event{Kind: "anomaly", Session: &view, Anomaly: a})
}
