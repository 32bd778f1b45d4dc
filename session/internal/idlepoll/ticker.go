package idlepoll

import "time"

// Ticker is time.Ticker at a pace. It belongs to one goroutine, which calls Next after every tick.
type Ticker struct {
	p     *Pace
	timer *time.Timer
	every time.Duration
	late  time.Duration
}

// Ticker returns a ticker with an interval, which ticks at the beat while idle. The caller must stop it.
func (p *Pace) Ticker(every time.Duration) *Ticker { return p.LateTicker(every, 0) }

// LateTicker returns a Ticker that, while idle, ticks later than the others by late: for work that depends on theirs.
func (p *Pace) LateTicker(every, late time.Duration) *Ticker {
	t := &Ticker{p: p, every: every, late: late}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begin()
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

func (t *Ticker) next() {
	now := time.Now()
	t.p.updateIdle(now)
	t.timer.Reset(t.p.wait(now, t.every, t.late))
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
