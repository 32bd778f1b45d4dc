//go:build unix

package jobs

import (
	"context"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/evidence"
	"github.com/longterm-dev/longterm/session/internal/ladder"
)

// interrupt ends a line by the kill ladder: Ctrl-C to what is in the foreground, then TERM
// and KILL to every process that began with the line, wherever it moved itself. The shell
// survives, and what ran before the line does.
func (j *Job) interrupt(ctx context.Context, grace time.Duration) {
	h, e, since := j.s.reg, j.e, j.processesSince()
	if !j.interruptible(ctx, func() {
		if pg := e.Foreground(); pg > 0 {
			_ = syscall.Kill(-pg, syscall.SIGINT) // gone already is fine
		}
	}) {
		return // it has ended: what runs now is another's
	}
	defer func() { _ = e.Session.Interrupted(ctx) }() // lines after it wait for this
	_, _ = ladder.Climb(ctx, ladder.Line(grace), lineTarget{j, since})
	h.SignalBegan(e, since, syscall.SIGKILL) // what it left behind goes too
}

// lineTarget is what runs of a job's line, for the kill ladder.
type lineTarget struct {
	j     *Job
	since time.Time
}

// Send implements ladder.Target.
func (t lineTarget) Send(_ context.Context, s ladder.Step) (ladder.Sent, error) {
	if s.Signal != 0 && !t.j.s.reg.SignalBegan(t.j.e, t.since, s.Signal) && !s.Last() {
		return ladder.Unheard, nil
	}
	return ladder.Heard, nil
}

// Await implements ladder.Target.
func (t lineTarget) Await(ctx context.Context, s ladder.Step) bool {
	if s.Signal != 0 || s.Grace <= questionTime {
		return waitClosed(ctx, t.j.ended, s.Grace)
	}
	if waitClosed(ctx, t.j.ended, questionTime) {
		return true
	}
	if t.j.e.Session.Status().Needs.Kind != evidence.None { // it asks again: the interrupt did not end it
		return false
	}
	return waitClosed(ctx, t.j.ended, s.Grace-questionTime)
}

// questionTime is how long a program that waits for input may take to act on an interrupt.
const questionTime = 2 * time.Second

// interruptible has the session's owner send the signal, if the line still runs: nothing else
// can be typed in between.
func (j *Job) interruptible(ctx context.Context, signal func()) (runs bool) {
	var err error
	switch run := j.given(); {
	case j.unintegrated.Load():
		signal()
		return true
	case run != nil:
		runs, err = j.e.Session.Interrupt(ctx, run, signal)
	default:
		j.mu.Lock()
		n := j.started.Number
		j.mu.Unlock()
		runs, err = j.e.Session.InterruptCommand(ctx, n, signal)
	}
	return runs && err == nil
}

// heardLate is how long after a line began a busy machine tells of it.
const heardLate = 100 * time.Millisecond

// processesSince is the time from which on processes are the line's. When it began is only
// known once its mark was read: what it runs may be older than that.
func (j *Job) processesSince() time.Time {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.run != nil && isClosed(j.run.Begun) && !j.run.Typed.IsZero():
		return j.run.Typed
	case j.started.Began.IsZero():
		return time.Now()
	}
	return j.started.Began.Add(-heardLate)
}

// abandoned does what it means for the job that who waited for it has broken off.
func (j *Job) abandoned(ctx context.Context, c *api.Call, leaves ending) {
	switch {
	case j.s.ctx.Err() != nil || leaves != endsByCaller || c.OnTimeout == "background":
	case actor.Of(ctx).Host != "": // over ssh or a fleet who breaks off says so: the way here was lost, or a daemon on it is replaced
		go j.endUnlessAsked()
	default:
		j.endWithCaller()
	}
}

func (j *Job) endWithCaller() {
	j.mark(endsByCaller)
	j.ask(j.grace())
}

// endUnlessAsked ends a job whose caller does not come back after a loss.
func (j *Job) endUnlessAsked() {
	if j.callers.lost(j.over, j.released, j.s.ctx.Done()) {
		j.endWithCaller()
	}
}

// callers are those who wait for what is theirs.
type callers struct {
	waiting atomic.Int32
	losses  atomic.Uint64 // of them, by the way here
}

// lostTime is how long is waited for a caller, to whom the connection over other hosts was lost.
const lostTime = time.Minute

// lost waits for a caller to whom the way was lost, and says that none came back in time. Who came back and was lost again
// has another such time. It says nothing of the kind once it is over, its callers were let go, or the daemon ends.
func (c *callers) lost(over, released, done <-chan struct{}) bool {
	loss := c.losses.Add(1)
	t := time.NewTimer(lostTime)
	defer t.Stop()
	select {
	case <-over:
	case <-released:
	case <-done:
	case <-t.C:
		return c.waiting.Load() == 0 && c.losses.Load() == loss
	}
	return false
}
