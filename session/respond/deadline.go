package respond

import (
	"fmt"
	"time"
)

// Next returns when Tick must be called, unless another event comes first. ok is false if no timer is pending.
func (e *Engine) Next() (at time.Time, ok bool) {
	if e.done || e.began.IsZero() {
		return time.Time{}, false
	}
	earliest := func(t time.Time) {
		if !ok || t.Before(at) {
			at, ok = t, true
		}
	}
	if e.dirty && !e.isBehind(0) {
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
		if e.isCoolingDown(i) {
			earliest(e.uses[i].Last.Add(e.set.rules[i].CoolDown))
		}
	}
	return at, ok
}

// ruleDeadline returns when a rule must have fired, and whether it has such a deadline now.
func (e *Engine) ruleDeadline(i int) (time.Time, bool) {
	r, u := &e.set.rules[i], &e.uses[i]
	waits := u.Count == 0 && (!r.After || e.isUsedUp(i-1))
	if e.set.Ordered {
		waits = i == e.turn
	}
	return u.Since.Add(r.Timeout), waits && r.Timeout > 0 && !u.Over
}

// timeOut handles all expired timers except for the queue and settling.
func (e *Engine) timeOut() {
	if e.set.Timeout > 0 && !e.now.Before(e.began.Add(e.set.Timeout)) {
		e.fail(-1, fmt.Sprintf("not finished within %v", e.set.Timeout))
		return
	}
	for i := range e.uses {
		if t, waits := e.ruleDeadline(i); waits && !e.now.Before(t) {
			r := &e.set.rules[i]
			e.fail(i, fmt.Sprintf("%q did not appear within %v", r.label(), r.Timeout))
			return
		}
		e.endCoolDown(i)
	}
}

// endCoolDown matches the prompt again after a rule's cooldown, as it may still be there.
func (e *Engine) endCoolDown(i int) {
	r, u := &e.set.rules[i], &e.uses[i]
	if r.CoolDown == 0 || u.Count == 0 || u.Awake || e.isCoolingDown(i) {
		return
	}
	u.Awake = true
	e.matchUnfinishedLine()
	if e.screen.last != nil && !e.done {
		e.matchScreen()
	}
}
