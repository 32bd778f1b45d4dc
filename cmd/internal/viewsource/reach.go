//go:build unix

package viewsource

import (
	"context"
	"sync"
	"time"
)

// Pauses between tries of a feed to reach its daemon. One of this host is back at once; asking for another's may
// start ssh, so they grow.
const (
	retryTime     = 50 * time.Millisecond
	lastRetryTime = 5 * time.Second
)

// reach is whether a daemon can be reached, as its feed finds out. Streams that were lost wait for that, instead of
// each of them trying by itself.
type reach struct {
	mu   sync.Mutex    // guards back
	back chan struct{} // closed when the daemon is back; nil: it was not lost
}

// lost says that the daemon cannot be reached.
func (r *reach) lost() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.back == nil {
		r.back = make(chan struct{})
	}
}

// found says that it can.
func (r *reach) found() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.back != nil {
		close(r.back)
		r.back = nil
	}
}

// await returns when it makes sense to try again.
func (r *reach) await(ctx context.Context) {
	pause(ctx, retryTime)
	r.mu.Lock()
	back := r.back
	r.mu.Unlock()
	if back == nil {
		return
	}
	select {
	case <-ctx.Done():
	case <-back:
	}
}
