// Package unwritten keeps what a full disk did not take, so that it counts meanwhile and is tried again until it is written. It
// knows what is kept by its key alone.
//
//	write ─ refused → Note → Again: try … try ─ written → Drop → nothing is left: over
//	                                └ Leave: the daemon ends, whose last try is its owner's
package unwritten

import (
	"maps"
	"sync"
	"time"
)

// Every is how long it takes until what was refused is tried again.
const Every = 5 * time.Second

// Set is what is not written as it stands, and what of it is to be written. The zero value is empty. Any goroutine may call.
type Set[K comparable, V any] struct {
	Max int // how much is kept; 0: all

	mu     sync.Mutex
	of     map[K]V
	trying bool // Again runs, or is to be called
	leaves chan struct{}
	left   bool
}

// Note keeps what was refused, in place of what was kept of the same. It says whether that is new, and whether the caller has to
// see to it that Again runs.
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

// Get is what is kept of something.
func (s *Set[K, V]) Get(k K) (v V, there bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, there = s.of[k]
	return v, there
}

// Drop is for what is written, or not wanted any more. It says whether it was kept.
func (s *Set[K, V]) Drop(k K) (was bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, was = s.of[k]
	delete(s.of, k)
	return was
}

// All is a copy of what is kept.
func (s *Set[K, V]) All() map[K]V {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.of)
}

// Again tries what is kept every now and then until nothing is left, or the daemon leaves: then its owner tries it a last time.
func (s *Set[K, V]) Again(try func()) {
	t := time.NewTicker(Every)
	defer t.Stop()
	leaves := s.leaving()
	for {
		select {
		case <-t.C:
		case <-leaves:
			return
		}
		if try(); s.over() {
			return
		}
	}
}

// over says that there is nothing left to try, and that nobody does any more.
func (s *Set[K, V]) over() bool {
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

// Leave has nothing tried again any more.
func (s *Set[K, V]) Leave() {
	c := s.leaving()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.left {
		s.left = true
		close(c)
	}
}
