//go:build unix

package client

import (
	"context"
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
