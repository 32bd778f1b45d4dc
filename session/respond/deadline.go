package respond

import (
	"fmt"
	"time"
)

// Next returns when Tick must be called, unless another event comes first. ok is false if no timer is pending.
func (e *Engine) Next() (at time.Time, ok bool) {
	if e.done || e.started.IsZero() {
		return time.Time{}, false
	}
	earliest := func(t time.Time) {
		if !ok || t.Before(at) {
			at, ok = t, true
		}
	}
	if e.dirty && !e.isReplaying(0) {
		earliest(e.settleTime())
	}
	if len(e.queue) > 0 && !e.queue[0].Due.IsZero() {
		earliest(e.queue[0].Due)
	}
	if e.set.Timeout > 0 {
		earliest(e.started.Add(e.set.Timeout))
	}
	for i := range e.ruleStates {
		if t, waits := e.ruleDeadline(i); waits {
			earliest(t)
		}
		if e.isCoolingDown(i) {
			earliest(e.ruleStates[i].LastMatch.Add(e.set.rules[i].CoolDown))
		}
	}
	return at, ok
}

// ruleDeadline returns when a rule must have matched, and whether it has such a deadline now.
func (e *Engine) ruleDeadline(i int) (time.Time, bool) {
	r, u := &e.set.rules[i], &e.ruleStates[i]
	waits := u.Matches == 0 && (!r.AfterPrevious || e.isUsedUp(i-1))
	if e.set.Ordered {
		waits = i == e.nextOrdered
	}
	return u.WaitingSince.Add(r.Timeout), waits && r.Timeout > 0 && !u.Ended
}

// expireTimers handles all expired timeouts and cooldowns. Replies and the settle delay are handled elsewhere.
func (e *Engine) expireTimers() {
	if e.set.Timeout > 0 && !e.now.Before(e.started.Add(e.set.Timeout)) {
		e.failList(-1, fmt.Sprintf("not finished within %v", e.set.Timeout))
		return
	}
	for i := range e.ruleStates {
		if t, waits := e.ruleDeadline(i); waits && !e.now.Before(t) {
			r := &e.set.rules[i]
			e.failList(i, fmt.Sprintf("%q did not appear within %v", r.displayName(), r.Timeout))
			return
		}
		e.recheckAfterCoolDown(i)
	}
}

// recheckAfterCoolDown matches the line and the screen again after a rule's cooldown, as the prompt may still be there.
func (e *Engine) recheckAfterCoolDown(i int) {
	r, u := &e.set.rules[i], &e.ruleStates[i]
	if r.CoolDown == 0 || u.Matches == 0 || u.RecheckedAfterCoolDown || e.isCoolingDown(i) {
		return
	}
	u.RecheckedAfterCoolDown = true
	e.matchUnfinishedLine()
	if e.screen.last != nil && !e.done {
		e.matchScreen()
	}
}
