// Package pace is how often a process looks at what does not tell when it changes: often while anything happens in it, and
// rarely, all of it at the same time, while nothing does. A process at rest then sleeps: it wakes no processor, and the pages of its
// program can be left to the kernel.
//
//	Stir ──→ Pace ──→ Ticker, Alarm      at rest: with the beat, together
//
// Any goroutine may call what is here.
package pace

import (
	"cmp"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// after is for how long nothing has to happen before a process rests: what is left to do after something happened is done by
	// then. It is longer than what is looked at most often takes to be sure (five looks, twice).
	after = 12 * time.Second
	// beat is how often a process at rest looks at things.
	beat = 10 * time.Second
)

// Pace is a process's. The zero value never rests: see MayRest.
type Pace struct {
	// After is how long nothing has to happen before it rests, Beat how often it looks at things then. 0: as a person would want.
	After, Beat time.Duration

	stirred atomic.Bool // since it was last looked
	resting atomic.Bool

	mu      sync.Mutex
	may     bool      // rest
	last    time.Time // when it was last seen that something had happened
	began   time.Time // what beats are counted from
	tickers map[*Ticker]struct{}
	alarms  alarms
}

// MayRest says whether there is somebody who calls Stir when a file changes that would be looked at.
func (p *Pace) MayRest(may bool) {
	p.mu.Lock()
	p.may = may
	p.mu.Unlock()
	p.Stir()
}

// Stir says that something happens. It costs next to nothing where that has been said already. Without a pace it is nothing.
func (p *Pace) Stir() {
	if p == nil {
		return
	}
	if !p.stirred.Load() {
		p.stirred.Store(true) // before it is looked whether the process rests: see settle
	}
	if p.resting.Load() {
		p.wake()
	}
}

// Resting says whether nothing has happened for a while.
func (p *Pace) Resting() bool { return p.resting.Load() }

// wake has all look as often as they do while something happens.
func (p *Pace) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.resting.Swap(false) {
		return
	}
	p.stirred.Store(false)
	p.last = time.Now()
	for t := range p.tickers {
		t.timer.Reset(t.every)
	}
	p.alarms.set(p)
}

// settle finds out whether the process rests.
func (p *Pace) settle(now time.Time) {
	if p.stirred.Swap(false) || p.last.IsZero() {
		p.last = now
		return
	}
	if !p.may || p.resting.Load() || now.Sub(p.last) < cmp.Or(p.After, after) {
		return
	}
	p.rest()
}

// rest begins a rest, unless something has happened since it was looked.
func (p *Pace) rest() {
	p.resting.Store(true)
	if p.stirred.Load() { // by who did not see that it rests
		p.resting.Store(false)
	}
}

// wait is how long it is from now to the next time of what is to come after a while, a little later than others at rest.
func (p *Pace) wait(now time.Time, after, late time.Duration) time.Duration {
	if !p.resting.Load() {
		return after
	}
	beat := cmp.Or(p.Beat, beat)
	beats := max(1, (after+beat-1)/beat)
	since := now.Sub(p.began) - late
	return (since/beat+beats)*beat - since
}

// begin is called before anything is measured from its begin, with mu held.
func (p *Pace) begin() {
	if p.tickers == nil {
		p.began, p.tickers = time.Now(), map[*Ticker]struct{}{}
	}
}
