// Package idlepoll sets how often a process polls state that does not report its changes: often while the process is
// active, and rarely, all at the same time, while it is idle. An idle process then sleeps: it wakes no processor, and
// the kernel can reclaim the pages of its program.
//
//	NoteActivity ──→ Poller ──→ Ticker, Alarm      while idle: at common ticks
//
// Any goroutine may call the functions of this package. The package ends no goroutines: goroutines of idle sessions end
// in session/park.go.
package idlepoll

import (
	"cmp"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// idleAfter is the time without activity after which a process is idle. It is longer than the most frequent
	// detection needs to be sure (five probes, twice), so that all work after an activity is done.
	idleAfter = 12 * time.Second
	// idleInterval is the poll interval of an idle process.
	idleInterval = 10 * time.Second
)

// Poller is the polling state of a process. The zero value never becomes idle: see AllowIdle.
type Poller struct {
	// IdleAfter is the time without activity before the process is idle, IdleInterval the poll interval then. 0 selects
	// the default.
	IdleAfter, IdleInterval time.Duration

	active atomic.Bool // activity since the last update
	idle   atomic.Bool

	mu           sync.Mutex
	canIdle      bool      // the process may become idle
	lastActivity time.Time // when activity was last seen
	epoch        time.Time // start of the idle intervals: common ticks are multiples after it
	tickers      map[*Ticker]struct{}
	alarms       alarms
}

// AllowIdle sets whether changes of polled files are reported to NoteActivity, so that the process may become idle.
func (p *Poller) AllowIdle(may bool) {
	p.mu.Lock()
	p.canIdle = may
	p.mu.Unlock()
	p.NoteActivity()
}

// NoteActivity records activity. It is nearly free if repeated. A nil Poller ignores it.
func (p *Poller) NoteActivity() {
	if p == nil {
		return
	}
	if !p.active.Load() {
		p.active.Store(true) // before the idle state is read: see updateIdle
	}
	if p.idle.Load() {
		p.leaveIdle()
	}
}

// IsIdle reports whether the process is idle.
func (p *Poller) IsIdle() bool { return p.idle.Load() }

// leaveIdle resets all tickers and alarms to their normal intervals.
func (p *Poller) leaveIdle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.idle.Swap(false) {
		return
	}
	p.active.Store(false)
	p.lastActivity = time.Now()
	for t := range p.tickers {
		t.timer.Reset(t.every)
	}
	p.alarms.resetTimer(p)
}

// updateIdle makes the process idle if there was no activity.
func (p *Poller) updateIdle(now time.Time) {
	if p.active.Swap(false) || p.lastActivity.IsZero() {
		p.lastActivity = now
		return
	}
	if !p.canIdle || p.idle.Load() || now.Sub(p.lastActivity) < cmp.Or(p.IdleAfter, idleAfter) {
		return
	}
	p.enterIdle()
}

// enterIdle makes the process idle, unless there was activity since the check.
func (p *Poller) enterIdle() {
	p.idle.Store(true)
	if p.active.Load() { // by a caller that did not see the idle state
		p.idle.Store(false)
	}
}

// untilNext returns the time until the next tick. While the process is active, that is after. While idle, it is the time until
// a common tick, plus late: the first one, or a later one if after exceeds the poll interval.
func (p *Poller) untilNext(now time.Time, after, late time.Duration) time.Duration {
	if !p.idle.Load() {
		return after
	}
	beat := cmp.Or(p.IdleInterval, idleInterval)
	beats := max(1, (after+beat-1)/beat)
	since := now.Sub(p.epoch) - late
	return (since/beat+beats)*beat - since
}

// initialize initializes p before its first use, with mu held.
func (p *Poller) initialize() {
	if p.tickers == nil {
		p.epoch, p.tickers = time.Now(), map[*Ticker]struct{}{}
	}
}
