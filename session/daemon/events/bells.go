//go:build unix

package events

import (
	"sync"
	"time"
)

// bellEvery is the shortest time between two published bell events of a session.
const bellEvery = 250 * time.Millisecond

// Bells batches the bells of a session: the first is published at once, later ones with the next event.
type Bells struct {
	mu      sync.Mutex
	pending int // bells not reported yet
	paused  bool
}

// Ring records a bell. It calls publish with the number of bells to report, without holding the lock.
func (b *Bells) Ring(publish func(n int)) {
	b.mu.Lock()
	b.pending++
	n := b.pending
	if b.paused {
		b.mu.Unlock()
		return
	}
	b.pending, b.paused = 0, true
	b.mu.Unlock()
	time.AfterFunc(bellEvery, func() { b.flush(publish) })
	publish(n)
}

// flush reports the pending bells.
func (b *Bells) flush(publish func(n int)) {
	b.mu.Lock()
	n := b.pending
	b.pending, b.paused = 0, n > 0
	b.mu.Unlock()
	if n > 0 {
		time.AfterFunc(bellEvery, func() { b.flush(publish) })
		publish(n)
	}
}
