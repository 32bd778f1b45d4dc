package session

import (
	"sync"
	"time"
)

// snapshots holds buffers for full snapshots. Many sessions write one after the other, and a flooded session writes one
// every few hundred milliseconds. Unlike a sync.Pool it survives garbage collections: floods cause them often, and page
// faults in a new buffer cost more than filling it. Buffers that are unused for a while are freed.
var snapshots = snapshotPool{limit: 2, maxIdle: 5 * time.Second}

// snapshotPool is a set of reusable buffers.
type snapshotPool struct {
	limit   int           // most buffers kept
	maxIdle time.Duration // how long they are kept without use

	mu   sync.Mutex
	free []*[]byte
	puts int // calls of put
}

// get returns an empty buffer, the largest available.
func (r *snapshotPool) get() *[]byte {
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

// put returns a buffer to the pool.
func (r *snapshotPool) put(b *[]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.free) >= r.limit {
		return
	}
	r.free = append(r.free, b)
	r.puts++
	last := r.puts
	// a timer per call: a shared one would belong to one test's synctest bubble
	time.AfterFunc(r.maxIdle, func() { r.freeUnused(last) })
}

// freeUnused frees the buffers unless put was called since.
func (r *snapshotPool) freeUnused(last int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.puts == last {
		r.free = nil
	}
}
