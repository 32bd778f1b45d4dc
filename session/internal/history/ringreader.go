package history

import (
	"errors"
	"sync"

	"github.com/longterm-dev/longterm/session/ring"
)

// ErrRingFull is returned by Fill for a ring that is full.
var ErrRingFull = errors.New("the ring is full")

// RingReader lets followers read the ring concurrently with the owner. The lock keeps the mapping alive during a read.
type RingReader struct {
	mu   sync.RWMutex
	ring *ring.Ring
}

// SetRing sets the ring to read, which may be nil.
func (t *RingReader) SetRing(r *ring.Ring) { t.ring = r }

// Read reads output from an offset on. ok is false if the ring does not have it, or is closed.
func (t *RingReader) Read(off uint64, dst []byte) (n int, head uint64, ok bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.ring == nil {
		return 0, 0, false
	}
	n, ok = t.ring.CopyAt(off, dst)
	return n, t.ring.Head(), ok
}

// OldestOffset returns the oldest offset in the ring. ok is false if the ring is closed.
func (t *RingReader) OldestOffset() (off uint64, ok bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.ring == nil {
		return 0, false
	}
	return t.ring.OldestOffset(), true
}

// Close stops reads of the ring, so that the caller may unmap it.
func (t *RingReader) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ring = nil
}

// Fill writes to a ring whose writer is in this process: f fills a prefix of room and returns its length, which is then
// published. Readers are locked out during the call.
func (t *RingReader) Fill(r *ring.Ring, f func(room []byte) (int, error)) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	room := r.Room()
	if room == nil {
		return 0, ErrRingFull
	}
	n, err := f(room)
	if n > 0 {
		r.Publish(n)
	}
	return n, err
}
