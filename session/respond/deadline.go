package respond

import (
	"fmt"
	"time"
)

// Next is when Tick must be called, unless another event comes first. ok is false when
// nothing is waited for but events.
func (e *Engine) Next() (at time.Time, ok bool) {
	if e.done || e.began.IsZero() {
		return time.Time{}, false
	}
	earliest := func(t time.Time) {
		if !ok || t.Before(at) {
			at, ok = t, true
		}
	}
	if e.dirty && !e.behind(0) {
		earliest(e.settleAt())
	}
	if len(e.queue) > 0 && !e.queue[0].Until.IsZero() {
		earliest(e.queue[0].Until)
	}
	if e.set.Timeout > 0 {
		earliest(e.began.Add(e.set.Timeout))
	}
	for i := range e.uses {
		if t, waits := e.ruleDeadline(i); waits {
			earliest(t)
		}
		if e.resting(i) {
			earliest(e.uses[i].Last.Add(e.set.rules[i].CoolDown))
		}
	}
	return at, ok
}

// ruleDeadline is when a rule must have fired, if it is waited for.
func (e *Engine) ruleDeadline(i int) (time.Time, bool) {
	r, u := &e.set.rules[i], &e.uses[i]
	waits := u.Count == 0 && (!r.After || e.spent(i-1))
	if e.set.Ordered {
		waits = i == e.turn
	}
	return u.Since.Add(r.Timeout), waits && r.Timeout > 0 && !u.Over
}

// timeOut does what is due but for the queue and settling.
func (e *Engine) timeOut() {
	if e.set.Timeout > 0 && !e.now.Before(e.began.Add(e.set.Timeout)) {
		e.fail(-1, fmt.Sprintf("not over within %v", e.set.Timeout))
		return
	}
	for i := range e.uses {
		if t, waits := e.ruleDeadline(i); waits && !e.now.Before(t) {
			r := &e.set.rules[i]
			e.fail(i, fmt.Sprintf("%q did not appear within %v", r.label(), r.Timeout))
			return
		}
		e.wake(i)
	}
}

// wake has the prompt matched again when a rule has cooled down: it may still stand.
func (e *Engine) wake(i int) {
	r, u := &e.set.rules[i], &e.uses[i]
	if r.CoolDown == 0 || u.Count == 0 || u.Awake || e.resting(i) {
		return
	}
	u.Awake = true
	e.settle()
	if e.screen.last != nil && !e.done {
		e.matchScreen()
	}
}
