//go:build unix

package viewsource

import (
	"context"
	"sync"
	"time"
)

// Backoff between a feed's attempts to reach its daemon. A local daemon is back at once; an attempt for a remote one
// may start ssh.
const (
	minBackoff = 50 * time.Millisecond
	maxBackoff = 5 * time.Second
)

// reachability is whether a daemon can be reached, as its feed determines. Lost streams wait for it instead of retrying
// by themselves.
type reachability struct {
	mu   sync.Mutex    // guards back
	back chan struct{} // closed when the daemon is reachable again; nil: it is reachable
}

// markUnreachable records that the daemon is unreachable.
func (r *reachability) markUnreachable() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.back == nil {
		r.back = make(chan struct{})
	}
}

// markReachable records that the daemon is reachable.
func (r *reachability) markReachable() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.back != nil {
		close(r.back)
		r.back = nil
	}
}

// await waits until the daemon is reachable, or ctx ends.
func (r *reachability) await(ctx context.Context) {
	pause(ctx, minBackoff)
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
