//go:build unix

package jobs

import (
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store"
)

// A job may wait for a person twice over: before it begins, for itself (approval.go), and in the middle of its work, for
// a program that it executes or a host that its sandbox does not list. To who waits for it both are the same: its clocks
// stand still, and it says which approval it waits for.

// waitsFor is the approval that the job waits for: its own, or that of a program that it runs; nil: for none.
func (j *Job) waitsFor() *api.Approval {
	j.mu.Lock()
	p := j.pending
	j.mu.Unlock()
	switch {
	case isClosed(j.ended):
		return nil
	case p != nil:
		v := p.Approval()
		return &v
	case !isClosed(j.begun) && !j.starts():
		return nil // what runs in its session is another's
	case !isClosed(j.begun):
		return j.s.gate.WaitsWithin(j.e.ID(), time.Time{})
	}
	return j.s.gate.WaitsWithin(j.e.ID(), j.began)
}

// starts says of a line that it waits for its shell, or another program, to start.
func (j *Job) starts() bool {
	if j.command || !j.e.Ready() {
		return false
	}
	phase := j.e.Session.Status().Shell.Phase
	return phase == "" || phase == shell.PhaseUnknown
}

// stand has the clocks stand still while a program that the job runs waits for a person, as they do while the job itself
// waits for one. What it returns is closed when that may have changed.
func (j *Job) stand() <-chan struct{} {
	changed := j.s.gate.Change(j.e.ID())
	v := j.waitsFor()
	now, since := time.Now(), j.since()
	j.mu.Lock()
	switch {
	case j.held, (v != nil) == !j.stoodFrom.IsZero():
		j.mu.Unlock()
		return changed
	case v != nil: // also when the daemon before was asked
		j.stoodFrom = latest(v.Asked, since, j.wentOn)
		j.mu.Unlock()
		return changed
	}
	from := since.Add(now.Sub(j.stoodFrom))
	j.stoodFrom, j.wentOn, j.runsFrom = time.Time{}, now, from
	j.mu.Unlock()
	j.noteFrom(from)
	return changed
}

func latest(a time.Time, more ...time.Time) time.Time {
	for _, t := range more {
		if t.After(a) {
			a = t
		}
	}
	return a
}

// noteFrom has the record say from when the job's clocks run.
func (j *Job) noteFrom(t time.Time) {
	j.change(func(req map[string]any) { req["admitted"] = t.Format(time.RFC3339Nano) })
}

// tells says that a caller comes back now, for a person is asked of whom it does not know, if it wants that; and what is
// closed when that may have changed.
func (j *Job) tells(how *api.Asking) (now bool, changed <-chan struct{}) {
	if how == nil || how.OnApproval != "return" {
		return false, nil
	}
	changed = j.s.gate.Change(j.e.ID())
	v := j.waitsFor()
	return v != nil && v.State == store.ApprovalPending && v.ID != how.Told, changed
}
