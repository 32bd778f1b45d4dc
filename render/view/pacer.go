package view

import "time"

// minGap is the least time between two drawings of output. What the person does is drawn
// at once.
const minGap = 8 * time.Millisecond

// echoTime is how long all but what the person does keeps out of the way of an echo that is awaited.
const echoTime = minGap

// framePacer spaces drawings out: under floods of output most of what is printed is never
// seen.
type framePacer struct {
	urgent  bool // something else than output happened
	nothing bool // nothing that is to be seen happened
	armed   bool // a timer runs that ends the wait
	last    time.Time
	cost    time.Duration // of the last drawing
	echo    time.Time     // until then one is awaited; zero: none is
}

// typed says that something was typed, of which there is nothing to be seen yet.
func (p *framePacer) typed(now time.Time) {
	p.nothing = true
	if p.echo.Before(now) { // keys that come faster than echoes must not put off what is drawn
		p.echo = now.Add(echoTime)
	}
}

// came says that a session printed something, of those that the person typed into or of others.
func (p *framePacer) came(typedInto bool) {
	if typedInto && !p.echo.IsZero() {
		p.urgent, p.echo = true, time.Time{}
	}
}

// due reports whether to draw now. If not, and wait is not 0, rung is to be called after it.
func (p *framePacer) due(now time.Time) (draw bool, wait time.Duration) {
	nothing := p.nothing
	p.nothing = false
	if p.urgent { // it does not count: the echo of a key must not wait
		p.urgent = false
		return true, 0
	}
	if nothing {
		return false, 0
	}
	gap := max(max(minGap, 2*p.cost)-now.Sub(p.last), p.echo.Sub(now))
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
