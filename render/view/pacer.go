package view

import "time"

// minGap is the least time between two drawings of output. What the person does is drawn
// at once.
const minGap = 8 * time.Millisecond

// framePacer spaces drawings out: under floods of output most of what is printed is never
// seen.
type framePacer struct {
	urgent bool // something else than output happened
	armed  bool // a timer runs that ends the wait
	last   time.Time
	cost   time.Duration // of the last drawing
}

// due reports whether to draw now. If not, and wait is not 0, rung is to be called after it.
func (p *framePacer) due(now time.Time) (draw bool, wait time.Duration) {
	if p.urgent { // it does not count: the echo of a key must not wait
		p.urgent = false
		return true, 0
	}
	gap := max(minGap, 2*p.cost) - now.Sub(p.last)
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

// rung says that the wait is over: what was printed is drawn.
func (p *framePacer) rung(now time.Time) { p.armed, p.last = false, now }
