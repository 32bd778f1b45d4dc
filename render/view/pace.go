package view

import "time"

// minGap is the least time between two drawings of output. What the person does is drawn
// at once.
const minGap = 8 * time.Millisecond

// pace spaces drawings out: under floods of output most of what is printed is never
// looked at.
type pace struct {
	urgent bool
	armed  bool
	last   time.Time     // output was drawn
	cost   time.Duration // of the last drawing
}

// due reports whether to draw now. If not, it will be drawn when the time has come.
func (v *viewer) due() bool {
	p := &v.pace
	if p.urgent { // it does not count: the echo of a key must not wait
		p.urgent = false
		return true
	}
	gap := max(minGap, 2*p.cost) - time.Since(p.last)
	if gap <= 0 {
		p.last = time.Now()
		return true
	}
	if !p.armed {
		p.armed = true
		v.after(gap, func() { v.pace.armed, v.pace.last = false, time.Now() })
	}
	return false
}
