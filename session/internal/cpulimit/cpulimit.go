// Package cpulimit limits background work to a share of one core.
package cpulimit

import (
	"context"
	"time"
)

// Throttle sleeps in proportion to work, so that other programs get the processor. The zero value has not worked yet.
type Throttle struct {
	worked time.Duration // work since the last sleep
}

// minPauseWork is the accumulated work after which Pause sleeps. Shorter sleeps would be inexact.
const minPauseWork = 5 * time.Millisecond

// Pause records some work, and sleeps once enough of it has accumulated, so that the work uses share of one core. It
// returns ctx's error.
func (t *Throttle) Pause(ctx context.Context, worked time.Duration, share float64) error {
	if t.worked += worked; t.worked < minPauseWork || share >= 1 {
		return ctx.Err()
	}
	pause := time.Duration(float64(t.worked) * (1 - share) / share)
	t.worked = 0
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
	return ctx.Err()
}
