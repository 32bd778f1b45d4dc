// Package retryqueue keeps writes that a full disk rejected, so that they count in memory and are retried until they
// succeed. It identifies them by key only.
//
//	write ─ rejected → Note → RetryLoop: try … try ─ written → Drop → queue empty: end
//	                                  └ Leave: the daemon ends; the owner makes the last try
package retryqueue

import (
	"maps"
	"sync"
	"time"
)

// Every is how long it takes until what was refused is tried again.
const Every = 5 * time.Second

// Set is the set of unwritten values by key. The zero value is empty. It may be used from any goroutine.
type Set[K comparable, V any] struct {
	Max int // how much is kept; 0: all

	mu     sync.Mutex
	of     map[K]V
	trying bool // RetryLoop runs, or must be called
	leaves chan struct{}
	left   bool
}

// Note keeps a rejected value, which replaces an earlier one of its key. It reports whether the key is new, and whether
// the caller must start RetryLoop.
func (s *Set[K, V]) Note(k K, v V) (isNew, begin bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[K]V{}
	}
	_, there := s.of[k]
	if !there && s.Max > 0 && len(s.of) >= s.Max {
		return false, false
	}
	s.of[k] = v
	begin = !s.trying && !s.left
	s.trying = s.trying || begin
	return !there, begin
}

// Get returns the value of a key.
func (s *Set[K, V]) Get(k K) (v V, there bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, there = s.of[k]
	return v, there
}

// Drop removes a key whose value was written, or is obsolete. It reports whether the key was present.
func (s *Set[K, V]) Drop(k K) (was bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, was = s.of[k]
	delete(s.of, k)
	return was
}

// All returns a copy of the set.
func (s *Set[K, V]) All() map[K]V {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.of)
}

// RetryLoop calls try at intervals until the set is empty or the daemon leaves. In that case the owner makes the last
// try.
func (s *Set[K, V]) RetryLoop(try func()) {
	t := time.NewTicker(Every)
	defer t.Stop()
	leaves := s.leaving()
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

// endIfEmpty reports whether the set is empty, and records that RetryLoop ends then.
func (s *Set[K, V]) endIfEmpty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trying = len(s.of) > 0
	return !s.trying
}

func (s *Set[K, V]) leaving() chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leaves == nil {
		s.leaves = make(chan struct{})
	}
	return s.leaves
}

// Leave ends RetryLoop.
func (s *Set[K, V]) Leave() {
	c := s.leaving()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.left {
		s.left = true
		close(c)
	}
}
