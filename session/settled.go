package session

import (
	"context"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/secrets"
)

// arrivals records when the newest output came.
type arrivals struct {
	mu    sync.Mutex
	young []arrival // in order; forget drops those older than secrets.Settle
}

// arrival is output that came within a quarter of secrets.Settle.
type arrival struct {
	from, to    uint64
	first, last time.Time
}

// add notes that output came.
func (a *arrivals) add(from, to uint64, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forget(now)
	if n := len(a.young); n > 0 && now.Sub(a.young[n-1].first) < secrets.Settle/4 {
		a.young[n-1].to, a.young[n-1].last = to, now
		return
	}
	a.young = append(a.young, arrival{from, to, now, now})
}

// forget drops what has settled. The lock is held.
func (a *arrivals) forget(now time.Time) {
	n := 0
	for n < len(a.young) && now.Sub(a.young[n].last) >= secrets.Settle {
		n++
	}
	a.young = append(a.young[:0], a.young[n:]...)
}

// settledOffset returns the offset up to which output has settled, of known bytes in total.
func (a *arrivals) settledOffset(known uint64, now time.Time) uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.forget(now); len(a.young) > 0 {
		return a.young[0].from
	}
	return known
}

// settlesIn returns how long it takes until output up to off has settled, of known bytes in total.
func (a *arrivals) settlesIn(off, known uint64, now time.Time) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forget(now)
	if len(a.young) > 0 && off <= a.young[0].from {
		return 0
	}
	for _, y := range a.young {
		if off <= y.to {
			return secrets.Settle - now.Sub(y.last)
		}
	}
	if off <= known {
		return 0
	}
	return secrets.Settle
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
