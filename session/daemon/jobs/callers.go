//go:build unix

package jobs

import (
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store"
)

// A job may wait for an approval twice: of the line before it starts (approval.go), and later of a program that it
// executes or a host that its sandbox does not list. Callers see both alike: the timeouts are paused, and the result
// names the approval.

// waitsFor returns the approval that the job waits for: its own, or that of a program that it runs. It returns nil if
// it waits for none.
func (j *Job) waitsFor() *api.Approval {
	j.mu.Lock()
	p := j.approval.pending
	j.mu.Unlock()
	switch {
	case j.hasReached(stateEnded):
		return nil
	case p != nil:
		v := p.Approval()
		return &v
	case !j.hasReached(stateRunning) && !j.waitsForShell():
		return nil // what runs in its session is another's
	case !j.hasReached(stateRunning):
		return j.s.gate.OldestBlocking(j.e.ID(), time.Time{})
	}
	return j.s.gate.OldestBlocking(j.e.ID(), j.created)
}

// waitsForShell reports whether a line waits for its shell, or another program, to start.
func (j *Job) waitsForShell() bool {
	if j.command || !j.e.IsReady() {
		return false
	}
	phase := j.e.Session.Status().Shell.Phase
	return phase == "" || phase == shell.PhaseUnknown
}

// updatePause pauses the timeouts while a program that the job runs waits for an approval, and resumes them after it.
// It returns a channel that is closed when that may have changed.
func (j *Job) updatePause() <-chan struct{} {
	changed := j.s.gate.Change(j.e.ID())
	v := j.waitsFor()
	now, since := time.Now(), j.timeoutStart()
	j.mu.Lock()
	switch {
	case j.state.isPaused(), (v != nil) == !j.timing.pausedAt.IsZero():
		j.mu.Unlock()
		return changed
	case v != nil: // also if the previous daemon asked
		j.timing.pausedAt = latest(v.Asked, since, j.timing.resumedAt)
		j.mu.Unlock()
		return changed
	}
	from := since.Add(now.Sub(j.timing.pausedAt))
	j.timing.pausedAt, j.timing.resumedAt, j.timing.from = time.Time{}, now, from
	j.mu.Unlock()
	j.recordTimeoutStart(from)
	return changed
}

// latest returns the latest of several times.
func latest(a time.Time, more ...time.Time) time.Time {
	for _, t := range more {
		if t.After(a) {
			a = t
		}
	}
	return a
}

// recordTimeoutStart records from when the job's timeouts run.
func (j *Job) recordTimeoutStart(t time.Time) {
	j.updateRequest(admittedAt(t))
}

// admittedAt returns an edit of the recorded request that sets when a user allowed it.
func admittedAt(t time.Time) func(map[string]any) {
	return func(req map[string]any) { req["admitted"] = t.Format(time.RFC3339Nano) }
}

// notifiesCaller reports whether a caller returns now, because it wants to return for an approval that it does not
// know. changed is closed when that may have changed.
func (j *Job) notifiesCaller(how *api.ApprovalOptions) (now bool, changed <-chan struct{}) {
	if how == nil || how.OnApproval != "return" {
		return false, nil
	}
	changed = j.s.gate.Change(j.e.ID())
	v := j.waitsFor()
	return v != nil && v.State == store.ApprovalPending && v.ID != how.KnownApproval, changed
}
