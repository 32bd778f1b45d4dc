package journal

import (
	"sync"
	"sync/atomic"
)

// maxHandles limits the segments that this process keeps open for appending. More sessions can be active; those that
// print seldom open their segment for each append.
const maxHandles = 256

var processHandles = handles{max: maxHandles}

// handle is a journal's descriptor of the segment it appends to.
type handle struct {
	mu   sync.Mutex  // held while the descriptor is used or changed
	file File        // nil: not open
	err  error       // error of an asynchronous close
	used atomic.Bool // set by each use, cleared when the clock hand passes
}

// closeLocked closes the descriptor. The caller holds mu.
func (h *handle) closeLocked() {
	if h.file == nil {
		return
	}
	if err := h.file.Close(); h.err == nil {
		h.err = err
	}
	h.file = nil
}

// handles is the set of handles with an open descriptor, evicted by the clock algorithm when a limit is exceeded. Its
// lock is taken while a handle's is held, so other handles may only be try-locked.
type handles struct {
	max  int
	mu   sync.Mutex
	open []*handle
	hand int // position of the clock hand
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

// evictLocked closes one descriptor that was not used since the hand last passed it. If all are busy, the limit is
// exceeded.
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

// forget removes h after its owner closed the descriptor. The caller holds h's lock.
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
