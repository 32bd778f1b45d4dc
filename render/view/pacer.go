package view

import "time"

// minGap is the shortest time between two drawings of output. Changes by the user are drawn at once.
const minGap = 8 * time.Millisecond

// echoTime is how long drawing is delayed while a key's echo is pending.
const echoTime = minGap

// framePacer limits the frame rate: under a flood of output most of it would never be seen.
type framePacer struct {
	urgent    bool          // an event other than output happened
	unchanged bool          // the last event changed nothing visible
	armed     bool          // a timer runs that ends the wait
	last      time.Time     // time of the last drawing
	cost      time.Duration // duration of the last drawing
	echoUntil time.Time     // end of the wait for an echo; zero: none pending
}

// noteTyped records that a key was typed whose echo has not arrived yet.
func (p *framePacer) noteTyped(now time.Time) {
	p.unchanged = true
	if p.echoUntil.Before(now) { // keys that come faster than echoes must not put off what is drawn
		p.echoUntil = now.Add(echoTime)
	}
}

// noteOutput records output of a session. typedInto marks a session that the user typed into.
func (p *framePacer) noteOutput(typedInto bool) {
	if typedInto && !p.echoUntil.IsZero() {
		p.urgent, p.echoUntil = true, time.Time{}
	}
}

// due reports whether to draw now. If it returns false and wait > 0, the caller must call waitEnded after wait.
func (p *framePacer) due(now time.Time) (draw bool, wait time.Duration) {
	nothing := p.unchanged
	p.unchanged = false
	if p.urgent { // it does not count: the echo of a key must not wait
		p.urgent = false
		return true, 0
	}
	if nothing {
		return false, 0
	}
	gap := max(max(minGap, 2*p.cost)-now.Sub(p.last), p.echoUntil.Sub(now))
	if gap <= 0 {
		p.last = now
		return true, 0
	}
	if p.armed {
		return false, 0
	}
	p.armed = true
	return false, gap
}

// waitEnded records that the wait has ended and the output is drawn.
func (p *framePacer) waitEnded(now time.Time) { p.armed, p.last = false, now }
