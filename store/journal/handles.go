package journal

import (
	"sync"
	"sync/atomic"
)

// maxHandles bounds the segments that are kept open for appending in this process.
// More sessions than this can be open; those that print seldom pay an open per append.
const maxHandles = 256

var processHandles = handles{max: maxHandles}

// handle is the descriptor of the segment that a journal appends to.
type handle struct {
	mu   sync.Mutex // held while the descriptor is used or changed
	file File       // nil: not open
	err  error      // of a close that was not waited for
	used atomic.Bool
}

// close gives the descriptor up. mu is held.
func (h *handle) closeLocked() {
	if h.file == nil {
		return
	}
	if err := h.file.Close(); h.err == nil {
		h.err = err
	}
	h.file = nil
}

// handles is the set of handles with an open descriptor: a clock that turns when one
// too many is opened. Its lock is taken with a handle's held, so that of other
// handles may only be tried.
type handles struct {
	max  int
	mu   sync.Mutex
	open []*handle
	hand int
}

// admit makes room for h, which is locked and about to be opened.
func (s *handles) admit(h *handle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) >= s.max {
		s.evictLocked()
	}
	s.open = append(s.open, h)
}

// evictLocked closes one descriptor that was not used since the hand last came by. If
// all are busy the limit is passed.
func (s *handles) evictLocked() {
	for range 2 * len(s.open) {
		s.hand = (s.hand + 1) % len(s.open)
		h := s.open[s.hand]
		if h.used.Swap(false) || !h.mu.TryLock() {
			continue
		}
		h.closeLocked()
		h.mu.Unlock()
		s.removeLocked(s.hand)
		return
	}
}

// forget is called, with h locked, when its descriptor was closed by its owner.
func (s *handles) forget(h *handle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.open {
		if s.open[i] == h {
			s.removeLocked(i)
			return
		}
	}
}

func (s *handles) removeLocked(i int) {
	last := len(s.open) - 1
	s.open[i] = s.open[last]
	s.open[last] = nil
	s.open = s.open[:last]
}
