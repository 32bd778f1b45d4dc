package pace

import "time"

// Ticker is time.Ticker at a pace. It belongs to one goroutine, which calls Next after every tick.
type Ticker struct {
	p     *Pace
	timer *time.Timer
	every time.Duration
	late  time.Duration
}

// Ticker ticks every so often, and at rest with a beat. It has to be stopped.
func (p *Pace) Ticker(every time.Duration) *Ticker { return p.LateTicker(every, 0) }

// LateTicker is Ticker, but at rest so much later than others: for what is to come after what they do.
func (p *Pace) LateTicker(every, late time.Duration) *Ticker {
	t := &Ticker{p: p, every: every, late: late}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begin()
	p.tickers[t] = struct{}{}
	t.timer = time.NewTimer(every)
	return t
}

// C has a tick.
func (t *Ticker) C() <-chan time.Time { return t.timer.C }

// Next has the next tick come.
func (t *Ticker) Next() {
	t.p.mu.Lock()
	defer t.p.mu.Unlock()
	t.next()
}

func (t *Ticker) next() {
	now := time.Now()
	t.p.settle(now)
	t.timer.Reset(t.p.wait(now, t.every, t.late))
}

// Reset has it tick every so often from now on.
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
