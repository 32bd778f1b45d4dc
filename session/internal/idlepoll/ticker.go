package idlepoll

import "time"

// Ticker works like time.Ticker at the intervals of a Poller. It belongs to one goroutine, which calls Next after every
// tick.
type Ticker struct {
	p     *Poller
	timer *time.Timer
	every time.Duration // interval while active
	late  time.Duration // delay after the common tick while idle
}

// Ticker returns a ticker with an interval, which ticks at the common ticks while idle. The caller must stop it.
func (p *Poller) Ticker(every time.Duration) *Ticker { return p.LateTicker(every, 0) }

// LateTicker returns a Ticker that, while idle, ticks later than the others by late: for work that depends on theirs.
func (p *Poller) LateTicker(every, late time.Duration) *Ticker {
	t := &Ticker{p: p, every: every, late: late}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.initialize()
	p.tickers[t] = struct{}{}
	t.timer = time.NewTimer(every)
	return t
}

// C returns the channel of the ticks.
func (t *Ticker) C() <-chan time.Time { return t.timer.C }

// Next schedules the next tick.
func (t *Ticker) Next() {
	t.p.mu.Lock()
	defer t.p.mu.Unlock()
	t.next()
}

// next schedules the next tick, with mu held.
func (t *Ticker) next() {
	now := time.Now()
	t.p.updateIdle(now)
	t.timer.Reset(t.p.untilNext(now, t.every, t.late))
}

// Reset changes the interval.
func (t *Ticker) Reset(every time.Duration) {
	t.p.mu.Lock()
	defer t.p.mu.Unlock()
	t.every = every
	t.next()
}

// Stop ends the ticks.
func (t *Ticker) Stop() {
	t.p.mu.Lock()
	defer t.p.mu.Unlock()
	delete(t.p.tickers, t)
	t.timer.Stop()
}
