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
	firstPauseAt, lastPauseAt time.Time     // start of this series of failures
	backoff                   time.Duration // next pause
}

// maxRetryTime is how long requests are retried before the daemon counts as broken. The pauses are an exponential
// backoff: they double from minBackoff to maxBackoff.
const (
	maxRetryTime           = 30 * time.Second
	minBackoff, maxBackoff = time.Millisecond, 100 * time.Millisecond
)

// resetAfter is how long no request must have failed before the retry policy starts over.
const resetAfter = 5 * time.Second

// newRetryPolicy returns the policy of one request.
func newRetryPolicy() *retryPolicy { return &retryPolicy{backoff: minBackoff} }

// pause waits for the backoff and reports whether to retry.
func (p *retryPolicy) pause(ctx context.Context) bool { return p.pauseWithin(ctx, maxRetryTime) }

// pauseWithin waits as pause does, with its own limit on the time of all retries.
func (p *retryPolicy) pauseWithin(ctx context.Context, limit time.Duration) bool {
	now := time.Now()
	if p.firstPauseAt.IsZero() || now.Sub(p.lastPauseAt) > resetAfter {
		p.firstPauseAt, p.backoff = now, minBackoff
	}
	if now.Sub(p.firstPauseAt) > limit {
		return false
	}
	defer func() { p.lastPauseAt = time.Now() }()
	pause := p.backoff
	p.backoff = min(2*p.backoff, maxBackoff)
	return sleep(ctx, pause)
}

// remoteRetryInterval is the time between requests to an unreachable remote host, after maxRetryTime.
const remoteRetryInterval = 500 * time.Millisecond

// notifyOutageAfter is how long an outage lasts before it is reported: a daemon restart there takes less.
const notifyOutageAfter = 2 * time.Second

// outage records since when a remote host has been unreachable.
type outage struct {
	mu         sync.Mutex
	since      time.Time // zero: reachable
	isReported bool      // OnOutage was called
}

// recordFailure records a failed attempt and reports whether to notify now.
func (a *outage) recordFailure() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.since.IsZero() {
		a.since = time.Now()
	}
	mustReport := !a.isReported && time.Since(a.since) > notifyOutageAfter
	a.isReported = a.isReported || mustReport
	return mustReport
}

// isActive reports whether the host is unreachable, as far as known.
func (a *outage) isActive() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.since.IsZero()
}

// recordSuccess ends the outage.
func (a *outage) recordSuccess() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.since, a.isReported = time.Time{}, false
}

// sleep waits for d. It returns false if ctx ended before.
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
