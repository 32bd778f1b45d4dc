//go:build unix

package client

import (
	"context"
	"sync"
	"time"
)

// retryPolicy paces retries. A daemon may be killed, restarted and upgraded several times during one request. The
// policy ends by time, not by count: a daemon that is shutting down rejects every attempt.
type retryPolicy struct {
	began, last time.Time // the first pause, and the newest
	next        time.Duration
}

// maxRetryTime is how long requests are retried before the daemon counts as broken. The pauses are an exponential
// backoff: they double from firstPause to lastPause.
const (
	maxRetryTime          = 30 * time.Second
	firstPause, lastPause = time.Millisecond, 100 * time.Millisecond
)

// resetAfter is how long a request has to have gone well for its end to be the beginning of
// another trouble.
const resetAfter = 5 * time.Second

func newRetryPolicy() *retryPolicy { return &retryPolicy{next: firstPause} }

// pause waits for the backoff and reports whether to retry.
func (p *retryPolicy) pause(ctx context.Context) bool { return p.pauseWithin(ctx, maxRetryTime) }

// pauseWithin is pause with its own limit.
func (p *retryPolicy) pauseWithin(ctx context.Context, limit time.Duration) bool {
	now := time.Now()
	if p.began.IsZero() || now.Sub(p.last) > resetAfter {
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

// farPause is between requests to an unreachable remote host, after all patience.
const farPause = 500 * time.Millisecond

// outageNotice is how long an outage lasts before it is reported: a daemon restart there takes less.
const outageNotice = 2 * time.Second

// outage is since when another host has not been reached.
type outage struct {
	mu    sync.Mutex
	since time.Time // zero: it was
	told  bool
}

// begins records a failed attempt and reports whether to notify now.
func (a *outage) begins() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.since.IsZero() {
		a.since = time.Now()
	}
	tell := !a.told && time.Since(a.since) > outageNotice
	a.told = a.told || tell
	return tell
}

// isActive reports whether the host is unreachable, as far as known.
func (a *outage) isActive() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.since.IsZero()
}

// end notes that it was.
func (a *outage) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.since, a.told = time.Time{}, false
}

// sleep waits for d and reports whether the caller should continue.
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
