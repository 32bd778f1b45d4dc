//go:build unix

package jobs

import (
	"context"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/inputdetect"
	"github.com/longterm-dev/longterm/session/internal/killladder"
)

// interrupt ends a line by the kill ladder: Ctrl-C to what is in the foreground, then TERM
// and KILL to every process that began with the line, wherever it moved itself. The shell
// survives, and what ran before the line does.
func (j *Job) interrupt(ctx context.Context, grace time.Duration) {
	h, e, since := j.s.reg, j.e, j.processesSince()
	if !j.signalIfRunning(ctx, func() {
		if pg := e.Foreground(); pg > 0 {
			_ = syscall.Kill(-pg, syscall.SIGINT) // gone already is fine
		}
	}) {
		return // it has ended: what runs now is another's
	}
	defer func() { _ = e.Session.EndInterrupt(ctx) }() // lines after it wait for this
	_, _ = killladder.Climb(ctx, killladder.LineSteps(grace), lineTarget{j, since})
	h.SignalStartedSince(e, since, syscall.SIGKILL) // ends the processes that outlive the line
}

// lineTarget is what runs of a job's line, for the kill ladder.
type lineTarget struct {
	j     *Job
	since time.Time
}

// Send implements killladder.Target.
func (t lineTarget) Send(_ context.Context, s killladder.Step) (killladder.SendResult, error) {
	if s.Signal != 0 && !t.j.s.reg.SignalStartedSince(t.j.e, t.since, s.Signal) && !s.IsLast() {
		return killladder.Ignored, nil
	}
	return killladder.Delivered, nil
}

// Await implements killladder.Target.
func (t lineTarget) Await(ctx context.Context, s killladder.Step) bool {
	if s.Signal != 0 || s.Grace <= questionGrace {
		return t.j.awaitFor(ctx, stateEnded, s.Grace)
	}
	if t.j.awaitFor(ctx, stateEnded, questionGrace) {
		return true
	}
	if t.j.e.Session.Status().Needs.Kind != inputdetect.None { // it asks again: the interrupt did not end it
		return false
	}
	return t.j.awaitFor(ctx, stateEnded, s.Grace-questionGrace)
}

// questionGrace is how long a program that waits for input may take to act on an interrupt.
const questionGrace = 2 * time.Second

// signalIfRunning calls signal on the session's owner if the line still runs, and reports whether it does. The owner
// types nothing in between.
func (j *Job) signalIfRunning(ctx context.Context, signal func()) (runs bool) {
	var err error
	switch run := j.submittedLine(); {
	case j.isUnintegrated():
		signal()
		return true
	case run != nil:
		runs, err = j.e.Session.Interrupt(ctx, run, signal)
	default:
		j.mu.Lock()
		n := j.outcome.started.Number
		j.mu.Unlock()
		runs, err = j.e.Session.InterruptCommand(ctx, n, signal)
	}
	return runs && err == nil
}

// markDelay is how late a busy machine reports that a line began.
const markDelay = 100 * time.Millisecond

// processesSince returns the time from which on processes are the line's. The start is known only after its mark was
// read: the line's processes may be older than the mark.
func (j *Job) processesSince() time.Time {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.run != nil && isClosed(j.run.StartedC) && !j.run.TypedAt.IsZero():
		return j.run.TypedAt
	case j.outcome.started.Began.IsZero():
		return time.Now()
	}
	return j.outcome.started.Began.Add(-markDelay)
}

// onCallerLeft ends the job if its caller has left and the job ends with it.
func (j *Job) onCallerLeft(ctx context.Context, c *api.Call, leaves endReason) {
	switch {
	case j.s.ctx.Err() != nil || leaves != endsByCaller || c.OnTimeout == "background":
	// over ssh or a fleet a caller that leaves on purpose sends that: here the connection was lost, or a daemon on it
	// is replaced
	case identity.Of(ctx).Host != "":
		go j.endUnlessReconnected()
	default:
		j.endWithCaller()
	}
}

// EndUnlessReconnected ends a job, or a command that is not started yet, whose request returned before its end, if no
// caller requests it again within reconnectTime. It does not end jobs in the background, nor those that continue
// there after a timeout.
func (s *Set) EndUnlessReconnected(id string) {
	if w := s.pendingStartByID(id); w != nil {
		if w.x.OnTimeout != "background" {
			w.withdrawUnlessReconnected()
		}
	} else if j := s.byID(id); j != nil && j.call.OnTimeout != "background" {
		s.runAsync(j.endUnlessReconnected)
	}
}

// endWithCaller ends the job because its caller left.
func (j *Job) endWithCaller() {
	j.setEnding(endsByCaller)
	j.requestEnd(j.grace())
}

// endUnlessReconnected ends the job if no caller requests it again within reconnectTime.
func (j *Job) endUnlessReconnected() {
	if j.callers.awaitReconnect(j.s.ctx, &j.machine) {
		j.endWithCaller()
	}
}

// callers counts the callers that wait for their own request.
type callers struct {
	waiting atomic.Int32
	losses  atomic.Uint64 // callers whose connection was lost, or whose request returned before the job's end
}

// reconnectTime is how long a job waits for a caller to come back after its connection was lost or its request
// returned.
const reconnectTime = time.Minute

// awaitReconnect waits for a caller to come back, and reports whether none did within reconnectTime. Each loss starts
// the time again. It reports false if the job is over, its callers were released, or the daemon ends.
func (c *callers) awaitReconnect(ctx context.Context, m *machine) bool {
	loss := c.losses.Add(1)
	t := time.NewTimer(reconnectTime)
	defer t.Stop()
	for {
		p := m.watch()
		if p.state >= stateHandedOff || p.released {
			return false
		}
		select {
		case <-p.changed:
		case <-ctx.Done():
			return false
		case <-t.C:
			return c.waiting.Load() == 0 && c.losses.Load() == loss
		}
	}
}
