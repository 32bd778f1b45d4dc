//go:build unix

package registry

import (
	"context"
	"time"
)

// pacer leaves the machine to others for a part of the time.
type pacer struct {
	worked time.Duration // since the last rest
}

// worthRest is how much work is worth a rest.
const worthRest = 5 * time.Millisecond

// rest notes some work, and rests once that is due: the work takes share of one core. It returns ctx's error.
func (p *pacer) rest(ctx context.Context, worked time.Duration, share float64) error {
	if p.worked += worked; p.worked < worthRest || share >= 1 {
		return ctx.Err()
	}
	pause := time.Duration(float64(p.worked) * (1 - share) / share)
	p.worked = 0
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
	return ctx.Err()
}
