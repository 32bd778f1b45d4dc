// Package idlepoll sets how often a process polls state that does not report its changes: often while the process is
// active, and rarely, all at the same time, while it is idle. An idle process then sleeps: it wakes no processor, and
// the kernel can reclaim the pages of its program.
//
//	NoteActivity ──→ Pace ──→ Ticker, Alarm      while idle: at the beat, together
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
	// after is the time without activity after which a process is idle. It is longer than the most frequent detection
	// needs to be sure (five probes, twice), so that all work after an activity is done.
	after = 12 * time.Second
	// beat is the poll interval of an idle process.
	beat = 10 * time.Second
)

// Pace is the polling state of a process. The zero value never becomes idle: see AllowIdle.
type Pace struct {
	// After is the time without activity before the process is idle, Beat the poll interval then. 0 selects the
	// default.
	After, Beat time.Duration

	active atomic.Bool // since it was last looked
	idle   atomic.Bool

	mu      sync.Mutex
	canIdle bool      // rest
	last    time.Time // when it was last seen that something had happened
	began   time.Time // what beats are counted from
	tickers map[*Ticker]struct{}
	alarms  alarms
}

// AllowIdle sets whether changes of polled files are reported to NoteActivity, so that the process may become idle.
func (p *Pace) AllowIdle(may bool) {
	p.mu.Lock()
	p.canIdle = may
	p.mu.Unlock()
	p.NoteActivity()
}

// NoteActivity records activity. It is nearly free if repeated. A nil Pace ignores it.
func (p *Pace) NoteActivity() {
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
func (p *Pace) IsIdle() bool { return p.idle.Load() }

// leaveIdle resets all tickers and alarms to their normal intervals.
func (p *Pace) leaveIdle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.idle.Swap(false) {
		return
	}
	p.active.Store(false)
	p.last = time.Now()
	for t := range p.tickers {
		t.timer.Reset(t.every)
	}
	p.alarms.set(p)
}

// updateIdle makes the process idle if there was no activity.
func (p *Pace) updateIdle(now time.Time) {
	if p.active.Swap(false) || p.last.IsZero() {
		p.last = now
		return
	}
	if !p.canIdle || p.idle.Load() || now.Sub(p.last) < cmp.Or(p.After, after) {
		return
	}
	p.enterIdle()
}

// enterIdle makes the process idle, unless there was activity since the check.
func (p *Pace) enterIdle() {
	p.idle.Store(true)
	if p.active.Load() { // by a caller that did not see the idle state
		p.idle.Store(false)
	}
}

// wait returns the time until the next tick after a while. While idle it is the next beat, plus late.
func (p *Pace) wait(now time.Time, after, late time.Duration) time.Duration {
	if !p.idle.Load() {
		return after
	}
	beat := cmp.Or(p.Beat, beat)
	beats := max(1, (after+beat-1)/beat)
	since := now.Sub(p.began) - late
	return (since/beat+beats)*beat - since
}

// begin initializes p before its first use, with mu held.
func (p *Pace) begin() {
	if p.tickers == nil {
		p.began, p.tickers = time.Now(), map[*Ticker]struct{}{}
	}
}
