package cpulimit

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestThrottle checks that pauses are in proportion to the work, however small its parts are.
func TestThrottle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var p Throttle
		began := time.Now()
		for range 100 {
			if err := p.Pause(ctx, time.Millisecond, 0.25); err != nil {
				t.Fatal(err)
			}
		}
		if rested := time.Since(began); rested != 300*time.Millisecond {
			t.Errorf("100 ms of work at a quarter of a core: %v of rest, want 300ms", rested)
		}
		began = time.Now()
		if err := p.Pause(ctx, time.Second, 1); err != nil || time.Since(began) != 0 {
			t.Errorf("all of a core: %v after %v", err, time.Since(began))
		}
		cancel()
		if err := p.Pause(ctx, time.Hour, 0.1); !errors.Is(err, context.Canceled) || time.Since(began) != 0 {
			t.Errorf("ended: %v after %v", err, time.Since(began))
		}
	})
}
