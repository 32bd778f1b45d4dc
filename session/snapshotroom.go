package session

import (
	"sync"
	"time"
)

// snapshots are buffers for snapshots with all their scrollback, which many sessions write one after the other, and one that
// is flooded every few hundred milliseconds. A collection does not take them, as it does what is in a sync.Pool: floods bring
// one each time, and to touch the pages of a new buffer took more than to fill it. What nobody wanted for a while is given up.
var snapshots = snapshotRoom{most: 2, rest: 5 * time.Second}

// snapshotRoom is a few buffers that are used again.
type snapshotRoom struct {
	most int           // buffers kept
	rest time.Duration // how long they are kept without use

	mu    sync.Mutex
	free  []*[]byte
	gives int // calls of give
}

// take returns an empty buffer, the largest there is.
func (r *snapshotRoom) take() *[]byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.free)
	if n == 0 {
		return new([]byte)
	}
	best := 0
	for i, b := range r.free {
		if cap(*b) > cap(*r.free[best]) {
			best = i
		}
	}
	b := r.free[best]
	r.free[best], r.free[n-1] = r.free[n-1], nil
	r.free = r.free[:n-1]
	*b = (*b)[:0]
	return b
}

// give gives a buffer back.
func (r *snapshotRoom) give(b *[]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.free) >= r.most {
		return
	}
	r.free = append(r.free, b)
	r.gives++
	last := r.gives
	time.AfterFunc(r.rest, func() { r.drop(last) }) // its own timer: one that all share would belong to one test's bubble
}

// drop frees the buffers unless give was called since.
func (r *snapshotRoom) drop(last int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gives == last {
		r.free = nil
	}
}
