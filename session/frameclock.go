package session

import "time"

// FrameInterval is the least time between two frames of a session if nothing else is set: 60 a second.
const FrameInterval = time.Second / 60

// echoInterval is the least time before a frame that may show an echo. It is shorter than FrameInterval so that fast
// typing shows each key at once.
const echoInterval = 2 * time.Millisecond

// frameClock lets the first change after an idle time, or after input, through at once and batches those that follow.
type frameClock struct {
	interval func() time.Duration // least time between two; nil: FrameInterval
	last     time.Time            // time of the last frame
	timer    *time.Timer          // set while a frame is owed
	dueAt    time.Time            // when the owed frame may be sent
	echo     bool                 // input came, and no frame was sent since
}

// expectEcho marks the next change as a possible echo of input.
func (c *frameClock) expectEcho() { c.echo = true }

// frameDue reports whether a frame may go out now; otherwise C fires when it may.
func (c *frameClock) frameDue(now time.Time) bool {
	if c.echo && now.Sub(c.last) >= echoInterval {
		if c.timer != nil {
			c.timer.Stop()
		}
		c.timer, c.last, c.echo = nil, now, false
		return true
	}
	if c.timer != nil && (!c.echo || !c.last.Add(echoInterval).Before(c.dueAt)) {
		return false
	}
	interval := FrameInterval
	if c.interval != nil {
		interval = c.interval()
	}
	if c.echo {
		interval = min(interval, echoInterval)
	}
	if wait := interval - now.Sub(c.last); wait > 0 {
		if c.timer != nil {
			c.timer.Stop()
		}
		c.timer, c.dueAt = time.NewTimer(wait), now.Add(wait)
		return false
	}
	c.last, c.echo = now, false
	return true
}

// C fires when an owed frame may be sent; call onTimer then.
func (c *frameClock) C() <-chan time.Time {
	if c.timer == nil {
		return nil
	}
	return c.timer.C
}

// onTimer records that the owed frame is sent. If it is sent slightly late, the following frames are not delayed by
// that: an owner that handles a flood is late each time.
func (c *frameClock) onTimer() {
	now := time.Now()
	if now.Sub(c.dueAt) < FrameInterval/2 {
		now = c.dueAt
	}
	c.timer, c.last, c.echo = nil, now, false
}

// alarm is a timer that is reset only if its time changes. The zero value is not set.
type alarm struct {
	timer *time.Timer
	due   time.Time // zero: not set
}

// set arms the alarm for a time, or stops it if ok is false.
func (a *alarm) set(at time.Time, ok bool) {
	switch {
	case !ok:
		a.stop()
	case a.timer == nil:
		a.timer, a.due = time.NewTimer(time.Until(at)), at
	case !at.Equal(a.due):
		a.timer.Reset(time.Until(at))
		a.due = at
	}
}

// C fires at the time that was set; call clear then.
func (a *alarm) C() <-chan time.Time {
	if a.timer == nil {
		return nil
	}
	return a.timer.C
}

// clear records that the timer has fired.
func (a *alarm) clear() { a.due = time.Time{} }

// stop stops the timer.
func (a *alarm) stop() {
	a.due = time.Time{}
	if a.timer != nil {
		a.timer.Stop()
	}
}
