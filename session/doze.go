package session

import (
	"sync/atomic"
	"time"
)

// An owner that has nothing to do has no goroutine: its stack would be the largest part of what an idle session costs.
// Whoever has something for it has it go on: output that is told of, an operation, its end, and the clock of looks, which
// goes on for as long as a program is silent.

const (
	// dozeAfter is how long nothing is printed or asked for before an owner dozes, at least. Keys that somebody types
	// come faster.
	dozeAfter = 2 * time.Second
	// nap is the least time to the next look for which it is worth while.
	nap = dozeAfter / 4
)

// doze is how an owner gets along without a goroutine.
type doze struct {
	asleep atomic.Bool  // there is none
	calls  atomic.Int32 // operations that somebody is about to hand over

	// The owner's.
	calm  bool // since dozeAfter nothing but looks
	moved bool // since the clock was set
	clock *time.Timer
}

// C fires when it is to be looked whether anything goes on.
func (d *doze) C() <-chan time.Time {
	if d.clock == nil {
		return nil
	}
	return d.clock.C
}

// stir notes that something goes on.
func (d *doze) stir() {
	d.moved, d.calm = true, false
	if d.clock == nil {
		d.clock = time.NewTimer(dozeAfter)
	}
}

// stir notes that something goes on in the session, for it and for the process. Its own looks at a program that has
// nothing to say are none of that: a question that nobody answers would keep the process from resting.
func (s *Session) stir() {
	s.doze.stir()
	s.cfg.Pace.Stir()
}

// passed takes what the clock says.
func (d *doze) passed() {
	if d.calm = !d.moved; d.calm {
		d.clock = nil
		return
	}
	d.moved = false
	d.clock.Reset(dozeAfter)
}

// mayDoze says that there is nothing to do, to be asked after all was done.
func (s *Session) mayDoze() bool { return s.doze.calm && s.nothingDue() && s.unasked() }

// dozes ends the owner's goroutine for now. Where it says so it has no right to anything of the owner's any more: another
// one may go on already.
func (s *Session) dozes() bool {
	s.doze.asleep.Store(true)
	// Who comes from here on sees that. Who came before is seen here; it goes on unless that was woken already.
	return s.unasked() || !s.doze.asleep.CompareAndSwap(true, false)
}

// unasked says that nobody came who has something for the owner.
func (s *Session) unasked() bool {
	return s.doze.calls.Load() == 0 && len(s.output) == 0 && !s.stopping()
}

// nothingDue says that none of the owner's clocks is set but the one of looks, which wakes it.
func (s *Session) nothingDue() bool { return s.nothingElseDue() && !s.inputwait.soon(nap) }

// nothingElseDue says that none but that of looks is set.
func (s *Session) nothingElseDue() bool {
	_, waits := s.waits.set.Next()
	return !waits && s.clock.timer == nil && s.history.due.C() == nil && s.lines.timer == nil && s.rules.rests() &&
		!s.history.record.Failing()
}

// wake has the owner go on if it dozes.
func (s *Session) wake() {
	if s.doze.asleep.Load() && s.doze.asleep.CompareAndSwap(true, false) {
		go s.live()
	}
}

// standIn does in the place of an owner that dozes what is not worth a goroutine of its own, and waits for nothing. false: the
// owner does not doze; else what f leaves undone, as it says, is the owner's.
func (s *Session) standIn(f func() (done bool)) bool {
	if !s.doze.asleep.CompareAndSwap(true, false) {
		return false
	}
	done := false
	_ = s.guard(func() { done = f() && s.mayDoze() })
	if !done || !s.dozes() {
		go s.live()
	}
	return true
}

// give hands the owner an operation; false: it gets none any more, or nobody waits for it any longer.
func (s *Session) give(f func(), stopped, given <-chan struct{}) bool {
	s.doze.calls.Add(1) // until the owner has taken it, as this goroutine may be held up behind that
	s.wake()
	select {
	case s.ops <- f:
		return true
	case <-stopped:
	case <-given:
	}
	s.doze.calls.Add(-1)
	return false
}
