//go:build unix

package events

import (
	"sync"
	"time"
)

// Events that could come thousands of times a second are told of together.

// bellEvery is how long bells are gathered after one was told of.
const bellEvery = 250 * time.Millisecond

// Bells gathers a session's bells: the first is told of at once, the others with the next
// event.
type Bells struct {
	mu      sync.Mutex
	rung    int
	resting bool
}

// Ring notes a bell. tell is called with how many there were, without the lock.
func (b *Bells) Ring(tell func(n int)) {
	b.mu.Lock()
	b.rung++
	n := b.rung
	if b.resting {
		b.mu.Unlock()
		return
	}
	b.rung, b.resting = 0, true
	b.mu.Unlock()
	time.AfterFunc(bellEvery, func() { b.rest(tell) })
	tell(n)
}

func (b *Bells) rest(tell func(n int)) {
	b.mu.Lock()
	n := b.rung
	b.rung, b.resting = 0, n > 0
	b.mu.Unlock()
	if n > 0 {
		time.AfterFunc(bellEvery, func() { b.rest(tell) })
		tell(n)
	}
}
