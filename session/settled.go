package session

import (
	"context"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/redact"
)

// arrivals records when the newest output came.
type arrivals struct {
	mu        sync.Mutex
	unsettled []arrival // output in order; forget drops output older than redact.Settle
}

// arrival is output that came within a quarter of redact.Settle.
type arrival struct {
	from, to    uint64
	first, last time.Time
}

// add notes that output came.
func (a *arrivals) add(from, to uint64, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forget(now)
	if n := len(a.unsettled); n > 0 && now.Sub(a.unsettled[n-1].first) < redact.Settle/4 {
		a.unsettled[n-1].to, a.unsettled[n-1].last = to, now
		return
	}
	a.unsettled = append(a.unsettled, arrival{from, to, now, now})
}

// forget drops what has settled. The lock is held.
func (a *arrivals) forget(now time.Time) {
	n := 0
	for n < len(a.unsettled) && now.Sub(a.unsettled[n].last) >= redact.Settle {
		n++
	}
	a.unsettled = append(a.unsettled[:0], a.unsettled[n:]...)
}

// settledOffset returns the offset up to which output has settled, of known bytes in total.
func (a *arrivals) settledOffset(known uint64, now time.Time) uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.forget(now); len(a.unsettled) > 0 {
		return a.unsettled[0].from
	}
	return known
}

// settlesIn returns how long it takes until output up to off has settled, of known bytes in total.
func (a *arrivals) settlesIn(off, known uint64, now time.Time) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forget(now)
	if len(a.unsettled) > 0 && off <= a.unsettled[0].from {
		return 0
	}
	for _, y := range a.unsettled {
		if off <= y.to {
			return redact.Settle - now.Sub(y.last)
		}
	}
	if off <= known {
		return 0
	}
	return redact.Settle
}

// SettledOffset returns the offset up to which output can be shown to a caller that is shown no secrets. It may be called from
// any goroutine.
func (s *Session) SettledOffset() uint64 {
	if s.Status().State != Running {
		return s.end()
	}
	return s.arrivals.settledOffset(s.Status().Offset, time.Now())
}

// WaitSettled waits until output up to an offset can be shown to a caller that is shown no secrets: a fixed
// time after it came, none once the program has ended. It may be called from any goroutine.
func (s *Session) WaitSettled(ctx context.Context, off uint64) error {
	if s.Status().State != Running {
		return nil
	}
	wait := s.arrivals.settlesIn(off, s.Status().Offset, time.Now())
	if wait <= 0 {
		return nil
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.stopped:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}
