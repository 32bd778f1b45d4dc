// Package retryqueue keeps writes that a full disk rejected. They count in memory, and are retried until they succeed.
// It identifies them by key only.
//
//	write ─ rejected → Add → RetryLoop: try … try ─ written → Drop → queue empty: end
//	                                 └ Stop: the daemon ends; the owner makes the last try
package retryqueue

import (
	"maps"
	"sync"
	"time"
)

// RetryInterval is the time between two tries.
const RetryInterval = 5 * time.Second

// Set is the set of unwritten values by key. The zero value is empty. It may be used from any goroutine.
type Set[K comparable, V any] struct {
	Max int // bound of the number of values; 0: none

	mu      sync.Mutex
	values  map[K]V
	trying  bool          // RetryLoop runs, or must be called
	stop    chan struct{} // closed by Stop; created by stopC
	stopped bool          // Stop was called
}

// Add keeps a rejected value, which replaces an earlier one of its key. It reports whether the key is new, and whether
// the caller must start RetryLoop.
func (s *Set[K, V]) Add(k K, v V) (isNew, begin bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values == nil {
		s.values = map[K]V{}
	}
	_, there := s.values[k]
	if !there && s.Max > 0 && len(s.values) >= s.Max {
		return false, false
	}
	s.values[k] = v
	begin = !s.trying && !s.stopped
	s.trying = s.trying || begin
	return !there, begin
}

// Get returns the value of a key.
func (s *Set[K, V]) Get(k K) (v V, there bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, there = s.values[k]
	return v, there
}

// Drop removes a key whose value was written, or is obsolete. It reports whether the key was present.
func (s *Set[K, V]) Drop(k K) (was bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, was = s.values[k]
	delete(s.values, k)
	return was
}

// All returns a copy of the set.
func (s *Set[K, V]) All() map[K]V {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.values)
}

// RetryLoop calls try at intervals until the set is empty or Stop is called. In that case the owner makes the last try.
func (s *Set[K, V]) RetryLoop(try func()) {
	t := time.NewTicker(RetryInterval)
	defer t.Stop()
	leaves := s.stopC()
	for {
		select {
		case <-t.C:
		case <-leaves:
			return
		}
		if try(); s.endIfEmpty() {
			return
		}
	}
}

// endIfEmpty reports whether the set is empty, and records in that case that RetryLoop ends.
func (s *Set[K, V]) endIfEmpty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trying = len(s.values) > 0
	return !s.trying
}

// stopC returns the channel that Stop closes.
func (s *Set[K, V]) stopC() chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop == nil {
		s.stop = make(chan struct{})
	}
	return s.stop
}

// Stop ends RetryLoop.
func (s *Set[K, V]) Stop() {
	c := s.stopC()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stopped {
		s.stopped = true
		close(c)
	}
}
