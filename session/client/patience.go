//go:build unix

package client

import (
	"context"
	"sync"
	"time"
)

// patience paces requests that are asked again: a daemon may be killed, restarted and upgraded several
// times while a request is on its way. It has an end in time, not in tries: a daemon that
// leaves says so as often as it is asked.
type patience struct {
	began, last time.Time // the first pause, and the newest
	next        time.Duration
}

// longPatience is how long is asked again before the daemon counts as broken; pauses grow
// from the first to the last.
const (
	longPatience          = 30 * time.Second
	firstPause, lastPause = time.Millisecond, 100 * time.Millisecond
)

// goodTime is how long a request has to have gone well for its end to be the beginning of
// another trouble.
const goodTime = 5 * time.Second

func newPatience() *patience { return &patience{next: firstPause} }

// pause waits a moment, and reports whether to ask again.
func (p *patience) pause(ctx context.Context) bool { return p.pauseWithin(ctx, longPatience) }

// pauseWithin is pause with a patience of its own.
func (p *patience) pauseWithin(ctx context.Context, limit time.Duration) bool {
	now := time.Now()
	if p.began.IsZero() || now.Sub(p.last) > goodTime {
		p.began, p.next = now, firstPause
	}
	if now.Sub(p.began) > limit {
		return false
	}
	defer func() { p.last = time.Now() }()
	pause := p.next
	p.next = min(2*p.next, lastPause)
	return sleep(ctx, pause)
}

// farPause is between requests to another host to which there is no connection, after all patience.
const farPause = 500 * time.Millisecond

// awayTold is how long another host is not reached before that is told: a daemon there is replaced in less.
const awayTold = 2 * time.Second

// away is since when another host has not been reached.
type away struct {
	mu    sync.Mutex
	since time.Time // zero: it was
	told  bool
}

// begins notes that it was not, and reports whether that is to be told now.
func (a *away) begins() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.since.IsZero() {
		a.since = time.Now()
	}
	tell := !a.told && time.Since(a.since) > awayTold
	a.told = a.told || tell
	return tell
}

// is says that it is not reached now, as far as is known.
func (a *away) is() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.since.IsZero()
}

// over notes that it was.
func (a *away) over() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.since, a.told = time.Time{}, false
}

// sleep waits, and reports whether it may be gone on.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
