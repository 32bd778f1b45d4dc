// Package cpulimit has work in the background take a part of a core.
package cpulimit

import (
	"context"
	"time"
)

// Throttle leaves the machine to others for a part of the time. The zero value has not worked yet.
type Throttle struct {
	worked time.Duration // since the last rest
}

// worthRest is how much work is worth a rest.
const worthRest = 5 * time.Millisecond

// Pause records some work, and sleeps once enough of it has accumulated, so that the work uses share of one core. It
// returns ctx's error.
func (t *Throttle) Pause(ctx context.Context, worked time.Duration, share float64) error {
	if t.worked += worked; t.worked < worthRest || share >= 1 {
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
