//go:build unix

package writequeue

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// stuckQueue is a queue whose first write does not end before free is called.
func stuckQueue() (q *Queue, free func()) {
	q = &Queue{Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	begun, stuck := make(chan struct{}), make(chan struct{})
	q.Enqueue(Key{"stuck", 1}, func() { close(begun); <-stuck })
	<-begun
	return q, func() { close(stuck) }
}

// TestWriteQueue checks that waiting writes of the same record become one, the newest, and the others are done in
// order. A caller that queries the written records waits for earlier writes.
//
// FAULT: B13
func TestWriteQueue(t *testing.T) {
	q, free := stuckQueue()
	var mu sync.Mutex
	var got []string
	note := func(s string) func() {
		return func() { mu.Lock(); got = append(got, s); mu.Unlock() }
	}
	q.Enqueue(Key{Session: "a"}, note("a old"))
	q.Enqueue(Key{"a", 1}, note("a1"))
	q.Enqueue(Key{Session: "b"}, note("b"))
	q.Enqueue(Key{Session: "a"}, note("a new"))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	q.Flush(gone) // its caller gave up
	free()
	q.Flush(t.Context())
	mu.Lock()
	defer mu.Unlock()
	if want := []string{"a new", "a1", "b"}; !slices.Equal(got, want) {
		t.Errorf("written %q, want %q", got, want)
	}
}

// TestWriteQueueIsBounded checks that when too many records of commands wait, the oldest are dropped, but never those
// of sessions.
//
// FAULT: B13
func TestWriteQueueIsBounded(t *testing.T) {
	q, free := stuckQueue()
	written := map[string]bool{}
	for i := range maxQueued + 10 {
		q.Enqueue(Key{"a", i + 1}, func() { written[fmt.Sprint("a", i+1)] = true })
		q.Enqueue(Key{Session: fmt.Sprint(i)}, func() { written[fmt.Sprint(i)] = true })
	}
	q.mu.Lock()
	if q.commands != maxQueued || q.dropped != 10 {
		t.Errorf("%d wait, %d given up", q.commands, q.dropped)
	}
	q.mu.Unlock()
	free()
	q.Flush(t.Context())
	for i := range maxQueued + 10 {
		if written[fmt.Sprint("a", i+1)] != (i >= 10) || !written[fmt.Sprint(i)] {
			t.Fatalf("record %d: command %v, session %v", i, written[fmt.Sprint("a", i+1)], written[fmt.Sprint(i)])
		}
	}
}

// TestFlushWhenAllIsWritten checks that a flush returns at once when all is written, although the queue's goroutine has
// not ended yet.
func TestFlushWhenAllIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &Queue{Log: slog.New(slog.DiscardHandler), busy: true, added: 3, done: 3}
		q.Flush(t.Context()) // a wait without end is found
	})
}
