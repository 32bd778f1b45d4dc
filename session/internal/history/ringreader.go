package history

import (
	"errors"
	"sync"

	"github.com/longterm-dev/longterm/session/ring"
)

// ErrNoRoom is returned by Fill for a ring that is full.
var ErrNoRoom = errors.New("the ring is full")

// RingReader lets followers read the ring beside the owner. The lock keeps the mapping alive
// while it is read.
type RingReader struct {
	mu   sync.RWMutex
	ring *ring.Ring
}

// Open has the reader read a ring; nil: there is none.
func (t *RingReader) Open(r *ring.Ring) { t.ring = r }

// Read reads output from an offset on. not ok: the ring does not have it, or there is none.
func (t *RingReader) Read(off uint64, dst []byte) (n int, head uint64, ok bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.ring == nil {
		return 0, 0, false
	}
	n, ok = t.ring.CopyAt(off, dst)
	return n, t.ring.Head(), ok
}

// Kept is the offset from which on the ring has what was printed: what is before was given back. not ok: there is none.
func (t *RingReader) Kept() (off uint64, ok bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.ring == nil {
		return 0, false
	}
	return t.ring.Oldest(), true
}

// Close lets the ring go.
func (t *RingReader) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ring = nil
}

// Fill is for a ring that is written in this very process: f writes into a prefix of room and returns
// how long that is, and it is published. Readers are kept out meanwhile.
func (t *RingReader) Fill(r *ring.Ring, f func(room []byte) (int, error)) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	room := r.Room()
	if room == nil {
		return 0, ErrNoRoom
	}
	n, err := f(room)
	if n > 0 {
		r.Publish(n)
	}
	return n, err
}
