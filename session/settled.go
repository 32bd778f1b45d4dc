package session

import (
	"context"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/redact"
)

// outputTimes records when the newest output came. Redaction holds output back until it has settled, since a secret may be
// incomplete at its end.
type outputTimes struct {
	mu        sync.Mutex
	unsettled []outputInterval // output in order; dropSettled drops output older than redact.SettleTime
}

// outputInterval is output that came within a quarter of redact.SettleTime.
type outputInterval struct {
	from, to    uint64
	first, last time.Time
}

// add records that output came.
func (a *outputTimes) add(from, to uint64, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.dropSettled(now)
	if n := len(a.unsettled); n > 0 && now.Sub(a.unsettled[n-1].first) < redact.SettleTime/4 {
		a.unsettled[n-1].to, a.unsettled[n-1].last = to, now
		return
	}
	a.unsettled = append(a.unsettled, outputInterval{from, to, now, now})
}

// dropSettled drops output that has settled. The caller holds the lock.
func (a *outputTimes) dropSettled(now time.Time) {
	n := 0
	for n < len(a.unsettled) && now.Sub(a.unsettled[n].last) >= redact.SettleTime {
		n++
	}
	a.unsettled = append(a.unsettled[:0], a.unsettled[n:]...)
}

// settledOffset returns the offset up to which output has settled, of known bytes in total.
func (a *outputTimes) settledOffset(known uint64, now time.Time) uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.dropSettled(now); len(a.unsettled) > 0 {
		return a.unsettled[0].from
	}
	return known
}

// untilSettled returns how long it takes until output up to off has settled, of known bytes in total.
func (a *outputTimes) untilSettled(off, known uint64, now time.Time) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.dropSettled(now)
	if len(a.unsettled) > 0 && off <= a.unsettled[0].from {
		return 0
	}
	for _, y := range a.unsettled {
		if off <= y.to {
			return redact.SettleTime - now.Sub(y.last)
		}
	}
	if off <= known {
		return 0
	}
	return redact.SettleTime
}

// SettledOffset returns the offset up to which output can be shown to a caller that is shown no secrets. It may be
// called from any goroutine.
func (s *Session) SettledOffset() uint64 {
	if s.Status().State != Running {
		return s.outputEnd()
	}
	return s.outputTimes.settledOffset(s.Status().Offset, time.Now())
}

// WaitSettled waits until output up to an offset can be shown to a caller that is shown no secrets: a fixed
// time after it came, none once the program has ended. It may be called from any goroutine.
func (s *Session) WaitSettled(ctx context.Context, off uint64) error {
	if s.Status().State != Running {
		return nil
	}
	wait := s.outputTimes.untilSettled(off, s.Status().Offset, time.Now())
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
