package web

import (
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"
)

// oneTimeCodes issues codes that are valid once, for a limited time. It stores only their hashes, so that memory contains no
// code and a lookup takes constant time.
type oneTimeCodes[T any] struct {
	limit int // codes at a time; the oldest is dropped
	now   func() time.Time

	mu      sync.Mutex
	entries map[[sha256.Size]byte]codeEntry[T]
}

// codeEntry is the value of a code.
type codeEntry[T any] struct {
	value   T
	expires time.Time
}

func newOneTimeCodes[T any](most int, now func() time.Time) *oneTimeCodes[T] {
	return &oneTimeCodes[T]{limit: most, now: now, entries: map[[sha256.Size]byte]codeEntry[T]{}}
}

// add creates a code for a value that expires at a time.
func (o *oneTimeCodes[T]) add(value T, until time.Time) (code string) {
	code = rand.Text()
	o.mu.Lock()
	defer o.mu.Unlock()
	for k, h := range o.entries {
		if !o.now().Before(h.expires) {
			delete(o.entries, k)
		}
	}
	for len(o.entries) >= o.limit {
		o.dropOldest()
	}
	o.entries[sha256.Sum256([]byte(code))] = codeEntry[T]{value, until}
	return code
}

// dropOldest removes the code that expires first.
func (o *oneTimeCodes[T]) dropOldest() {
	var oldest [sha256.Size]byte
	var until time.Time
	for k, h := range o.entries {
		if until.IsZero() || h.expires.Before(until) {
			oldest, until = k, h.expires
		}
	}
	delete(o.entries, oldest)
}

// take returns the value of a code and invalidates the code.
func (o *oneTimeCodes[T]) take(code string) (value T, ok bool) {
	key := sha256.Sum256([]byte(code))
	o.mu.Lock()
	defer o.mu.Unlock()
	h, ok := o.entries[key]
	delete(o.entries, key)
	if !ok || !o.now().Before(h.expires) {
		return value, false
	}
	return h.value, true
}
