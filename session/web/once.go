package web

import (
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"
)

// oneTimeCodes issues codes that are valid once, for a while. It stores only their hashes, so that memory reveals no
// code and a lookup takes constant time.
type oneTimeCodes[T any] struct {
	most int // held at a time; the oldest goes
	now  func() time.Time

	mu  sync.Mutex
	all map[[sha256.Size]byte]held[T]
}

type held[T any] struct {
	value T
	until time.Time
}

func newOnce[T any](most int, now func() time.Time) *oneTimeCodes[T] {
	return &oneTimeCodes[T]{most: most, now: now, all: map[[sha256.Size]byte]held[T]{}}
}

// add creates a code for a value until a time.
func (o *oneTimeCodes[T]) add(value T, until time.Time) (code string) {
	code = rand.Text()
	o.mu.Lock()
	defer o.mu.Unlock()
	for k, h := range o.all {
		if !o.now().Before(h.until) {
			delete(o.all, k)
		}
	}
	for len(o.all) >= o.most {
		o.dropOldest()
	}
	o.all[sha256.Sum256([]byte(code))] = held[T]{value, until}
	return code
}

func (o *oneTimeCodes[T]) dropOldest() {
	var oldest [sha256.Size]byte
	var until time.Time
	for k, h := range o.all {
		if until.IsZero() || h.until.Before(until) {
			oldest, until = k, h.until
		}
	}
	delete(o.all, oldest)
}

// take returns the value of a code and invalidates the code.
func (o *oneTimeCodes[T]) take(code string) (value T, ok bool) {
	key := sha256.Sum256([]byte(code))
	o.mu.Lock()
	defer o.mu.Unlock()
	h, ok := o.all[key]
	delete(o.all, key)
	if !ok || !o.now().Before(h.until) {
		return value, false
	}
	return h.value, true
}
