package session

import "time"

// FrameInterval is the least time between two frames of a session if nothing else is set: 60 a second.
const FrameInterval = time.Second / 60

// echoInterval is the least time before a frame that was typed for: who types faster than frames are sent wants to see
// each key, not each second one a frame later.
const echoInterval = 2 * time.Millisecond

// frameClock lets the first change after a rest, or after something was typed, through at once and batches those that follow.
type frameClock struct {
	interval func() time.Duration // least time between two; nil: FrameInterval
	last     time.Time
	timer    *time.Timer // set while a frame is owed
	owed     time.Time   // when that one may go out
	echo     bool        // something was typed, and no frame sent since
}

// typed says that the next change may be an echo.
func (c *frameClock) typed() { c.echo = true }

// due reports whether a frame may go out now; otherwise C fires when it may.
func (c *frameClock) due(now time.Time) bool {
	if c.echo && now.Sub(c.last) >= echoInterval {
		if c.timer != nil {
			c.timer.Stop()
		}
		c.timer, c.last, c.echo = nil, now, false
		return true
	}
	if c.timer != nil && (!c.echo || !c.last.Add(echoInterval).Before(c.owed)) {
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
		c.timer, c.owed = time.NewTimer(wait), now.Add(wait)
		return false
	}
	c.last, c.echo = now, false
	return true
}

// C fires when an owed frame may go out; call fired then.
func (c *frameClock) C() <-chan time.Time {
	if c.timer == nil {
		return nil
	}
	return c.timer.C
}

// fired notes that the owed frame goes out. Later than it might have by little, it does not put off those after it: an owner
// at work on a flood is late each time.
func (c *frameClock) fired() {
	now := time.Now()
	if now.Sub(c.owed) < FrameInterval/2 {
		now = c.owed
	}
	c.timer, c.last, c.echo = nil, now, false
}

// alarm is a timer that is set anew only when its time changes. The zero value is not set.
type alarm struct {
	timer *time.Timer
	due   time.Time
}

// set has the alarm fire at a time; not ok: never.
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

// C fires when the time has come; call fired then.
func (a *alarm) C() <-chan time.Time {
	if a.timer == nil {
		return nil
	}
	return a.timer.C
}

func (a *alarm) fired() { a.due = time.Time{} }

func (a *alarm) stop() {
	a.due = time.Time{}
	if a.timer != nil {
		a.timer.Stop()
	}
}
