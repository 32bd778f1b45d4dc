package session

import (
	"sync/atomic"
	"time"
)

// An idle owner parks: its goroutine ends, as its stack would be the largest part of an idle session's memory. New
// output, an operation, a stop or the probe timer restarts it. The probe timer runs as long as a program is silent.

const (
	// parkAfter is the least idle time before an owner parks. It is longer than the pause between two keys of a typing
	// user.
	parkAfter = 2 * time.Second
	// minProbeGap is the least time until the next probe for which parking is worthwhile.
	minProbeGap = parkAfter / 4
)

// ownerPark is the parking state of an owner.
type ownerPark struct {
	parked     atomic.Bool  // the owner has no goroutine
	pendingOps atomic.Int32 // operations that are about to be enqueued

	// The owner's:
	idle      bool        // there was only probing since parkAfter
	active    bool        // activity occurred since the timer was set
	idleTimer *time.Timer // fires after parkAfter
}

// C fires when the idle time must be checked.
func (d *ownerPark) C() <-chan time.Time {
	if d.idleTimer == nil {
		return nil
	}
	return d.idleTimer.C
}

// noteActivity restarts the idle time.
func (d *ownerPark) noteActivity() {
	d.active, d.idle = true, false
	if d.idleTimer == nil {
		d.idleTimer = time.NewTimer(parkAfter)
	}
}

// noteActivity records activity in the session, for the session and for the process. Probes of a silent program do not
// count: an unanswered prompt would otherwise keep the process from becoming idle.
func (s *Session) noteActivity() {
	s.parking.noteActivity()
	s.cfg.Poller.NoteActivity()
}

// onTimer updates idle after C has fired.
func (d *ownerPark) onTimer() {
	if d.idle = !d.active; d.idle {
		d.idleTimer = nil
		return
	}
	d.active = false
	d.idleTimer.Reset(parkAfter)
}

// canPark reports whether the owner has no pending work. Call it after the last operation.
func (s *Session) canPark() bool { return s.parking.idle && s.noTimersPending() && s.hasNoPendingOps() }

// park parks the owner and reports whether its goroutine must end. If it returns true, the goroutine must not use the
// owner's state: a new owner may already run.
func (s *Session) park() bool {
	s.parking.parked.Store(true)
	// Later operations see parked. Earlier ones are seen here: the goroutine continues, unless an operation has already
	// unparked the owner.
	return s.hasNoPendingOps() || !s.parking.parked.CompareAndSwap(true, false)
}

// hasNoPendingOps reports whether no operation, output or stop is queued.
func (s *Session) hasNoPendingOps() bool {
	return s.parking.pendingOps.Load() == 0 && len(s.output) == 0 && !s.isStopping()
}

// noTimersPending reports whether no timer is set but that of a distant probe, which unparks the owner.
func (s *Session) noTimersPending() bool {
	return s.onlyProbeTimerPending() && !s.inputwait.hasWorkBefore(minProbeGap)
}

// onlyProbeTimerPending reports whether at most the probe timer is set.
func (s *Session) onlyProbeTimerPending() bool {
	_, waits := s.waits.set.NextDue()
	return !waits && s.clock.timer == nil && s.history.checkpoints.C() == nil && s.lines.timer == nil && s.rules.isIdle() &&
		!s.history.recorder.IsFailing()
}

// unpark restarts the goroutine of a parked owner.
func (s *Session) unpark() {
	if s.parking.parked.Load() && s.parking.parked.CompareAndSwap(true, false) {
		go s.runOwner()
	}
}

// runIfParked runs f on the caller's goroutine if the owner is parked, and reports whether it did. f must not block. If
// f returns false, the owner is unparked to finish the work.
func (s *Session) runIfParked(f func() (done bool)) bool {
	if !s.parking.parked.CompareAndSwap(true, false) {
		return false
	}
	done := false
	_ = s.guard(func() { done = f() && s.canPark() })
	if !done || !s.park() {
		go s.runOwner()
	}
	return true
}

// enqueueOp sends an operation to the owner. It returns false if stopped or abandoned is closed first.
func (s *Session) enqueueOp(f func(), stopped, abandoned <-chan struct{}) bool {
	s.parking.pendingOps.Add(1) // until the owner has taken it, as this goroutine may be held up behind that
	s.unpark()
	select {
	case s.ops <- f:
		return true
	case <-stopped:
	case <-abandoned:
	}
	s.parking.pendingOps.Add(-1)
	return false
}
