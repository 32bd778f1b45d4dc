package view

import (
	"testing"
	"time"
)

// Output is drawn at most every so often; what the person does is drawn at once.
func TestPacer(t *testing.T) {
	ms := func(n int) time.Time { return epoch.Add(time.Duration(n) * time.Millisecond) }
	var p framePacer
	for _, c := range []struct {
		at     int // ms
		urgent bool
		cost   time.Duration // of the drawing before
		rung   bool          // the wait is over
		draw   bool
		wait   time.Duration
	}{
		{at: 0, draw: true},
		{at: 2, wait: minGap - 2*time.Millisecond},
		{at: 3}, // the timer runs
		{at: 4, urgent: true, draw: true},
		{at: 5}, // it runs still
		{at: 8, rung: true, urgent: true, draw: true},
		{at: 9, wait: minGap - time.Millisecond},
		{at: 16, rung: true, urgent: true, draw: true},
		{at: 30, cost: 10 * time.Millisecond, wait: 6 * time.Millisecond}, // drawing is slow: half the time is left for the rest
		{at: 36, rung: true, cost: 10 * time.Millisecond, wait: 20 * time.Millisecond},
		{at: 60, rung: true, urgent: true, draw: true},
		{at: 69, draw: true},
	} {
		p.cost = c.cost
		if c.rung {
			p.rung(ms(c.at))
		}
		p.urgent = c.urgent
		if draw, wait := p.due(ms(c.at)); draw != c.draw || wait != c.wait {
			t.Errorf("at %d ms: draw %v, wait %v; want %v, %v", c.at, draw, wait, c.draw, c.wait)
		}
	}
}
