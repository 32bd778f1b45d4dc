package registry

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/internal/idlepoll"
	"github.com/longterm-dev/longterm/session/sessiontest/threads"
)

// TestThreadsOfABurstEnd checks that idle maintenance ends the threads that a burst of blocking calls left.
//
// FEATURES: R90
func TestThreadsOfABurstEnd(t *testing.T) {
	t.Parallel()
	const many = 40
	r, _ := hosted(t, nil)
	r.AdoptAll(t.Context(), nil, nil)
	r.poller = &idlepoll.Poller{IdleAfter: time.Millisecond, IdleInterval: 10 * time.Millisecond}
	r.poller.AllowIdle(true)
	left := threads.Burst(t, many)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { r.Maintenance.run(ctx) })
	defer running.Wait()
	defer stop()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for left() > many/2 {
		<-look.C
	}
}
