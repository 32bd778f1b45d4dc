//go:build unix

package daemon

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
)

// stuckQueue is a queue whose first write does not end before free is called.
func stuckQueue() (q *writeQueue, free func()) {
	q = &writeQueue{log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	begun, stuck := make(chan struct{}), make(chan struct{})
	q.later(writeKey{"stuck", 1}, func() { close(begun); <-stuck })
	<-begun
	return q, func() { close(stuck) }
}

// Writes of the same record are one, the newest; the others are done in order; and whoever
// asks what is written waits for what was queued before.
//
// FAULT: B13
func TestWriteQueue(t *testing.T) {
	q, free := stuckQueue()
	var mu sync.Mutex
	var got []string
	note := func(s string) func() {
		return func() { mu.Lock(); got = append(got, s); mu.Unlock() }
	}
	q.later(writeKey{session: "a"}, note("a old"))
	q.later(writeKey{"a", 1}, note("a1"))
	q.later(writeKey{session: "b"}, note("b"))
	q.later(writeKey{session: "a"}, note("a new"))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	q.flush(gone) // its caller gave up
	free()
	q.flush(t.Context())
	mu.Lock()
	defer mu.Unlock()
	if want := []string{"a new", "a1", "b"}; !slices.Equal(got, want) {
		t.Errorf("written %q, want %q", got, want)
	}
}

// When too many records of commands wait, the oldest are given up; sessions' own never are.
//
// FAULT: B13
func TestWriteQueueIsBounded(t *testing.T) {
	q, free := stuckQueue()
	written := map[string]bool{}
	for i := range maxQueuedWrites + 10 {
		q.later(writeKey{"a", i + 1}, func() { written[fmt.Sprint("a", i+1)] = true })
		q.later(writeKey{session: fmt.Sprint(i)}, func() { written[fmt.Sprint(i)] = true })
	}
	q.mu.Lock()
	if q.commands != maxQueuedWrites || q.dropped != 10 {
		t.Errorf("%d wait, %d given up", q.commands, q.dropped)
	}
	q.mu.Unlock()
	free()
	q.flush(t.Context())
	for i := range maxQueuedWrites + 10 {
		if written[fmt.Sprint("a", i+1)] != (i >= 10) || !written[fmt.Sprint(i)] {
			t.Fatalf("record %d: command %v, session %v", i, written[fmt.Sprint("a", i+1)], written[fmt.Sprint(i)])
		}
	}
}
