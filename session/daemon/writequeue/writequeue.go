//go:build unix

// Package writequeue has records written in the order in which they were queued, beside those who
// must not wait for a database. It knows what is written by its key alone.
//
// Later never blocks. Two writes of one key are one, the newer, in the place of the older; Flush
// waits for what was queued before. The bound counts commands' records, not bytes.
package writequeue

import (
	"context"
	"log/slog"
	"sync"
)

// maxQueuedWrites bounds the records of commands that wait for the database. Sessions' own
// records are one each and are not counted.
const maxQueued = 10000

// writeKey names what is written: two writes of the same are one, the newer.
type Key struct {
	Session string
	Command int // 0: the session itself
}

// writeQueue writes records, so that sessions' owners need not wait for the database: a
// foreign lock can hold it up for seconds. Writes are done in the order in which their keys
// were first queued. When too many commands wait, the oldest is given up, counted and logged:
// it stays in the session's journal. The goroutine exists only while there is something to do.
type Queue struct {
	Log *slog.Logger

	mu       sync.Mutex
	order    []Key
	pending  map[Key]func()
	commands int // in pending
	dropped  int
	added    uint64     // to order
	done     uint64     // of those
	barriers []*barrier // oldest first
	busy     bool
}

// barrier is a caller who waits for what was queued before.
type barrier struct {
	at uint64 // of done
	c  chan struct{}
}

// Later queues a write; it replaces one of the same key that waits.
func (q *Queue) Later(key Key, f func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.pending == nil {
		q.pending = map[Key]func(){}
	}
	if _, waits := q.pending[key]; !waits {
		q.makeRoomLocked(key)
		q.order = append(q.order, key)
		q.added++
	}
	q.pending[key] = f
	if !q.busy {
		q.busy = true
		go q.work()
	}
}

// makeRoomLocked gives up the oldest command where there are too many.
func (q *Queue) makeRoomLocked(key Key) {
	if key.Command == 0 {
		return
	}
	if q.commands++; q.commands <= maxQueued {
		return
	}
	for _, k := range q.order {
		if _, waits := q.pending[k]; waits && k.Command != 0 {
			delete(q.pending, k) // its place in order stays
			q.commands--
			if q.dropped++; q.dropped == 1 {
				q.Log.Error("the database is too slow; the oldest records of commands are given up", "waiting", maxQueued)
			}
			return
		}
	}
}

func (q *Queue) work() {
	for {
		f := q.next()
		if f == nil {
			return
		}
		f()
		q.mu.Lock()
		q.passLocked()
		q.mu.Unlock()
	}
}

// next takes the oldest write; nil ends the goroutine.
func (q *Queue) next() func() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.order) > 0 {
		key := q.order[0]
		q.order = q.order[1:]
		f := q.pending[key]
		if f == nil { // given up
			q.passLocked()
			continue
		}
		delete(q.pending, key)
		if key.Command != 0 {
			q.commands--
		}
		return f
	}
	if q.dropped > 0 {
		q.Log.Error("records of commands were given up", "count", q.dropped)
	}
	q.busy, q.order, q.dropped = false, nil, 0
	return nil
}

// passLocked counts a write that is done.
func (q *Queue) passLocked() {
	q.done++
	for len(q.barriers) > 0 && q.barriers[0].at <= q.done {
		close(q.barriers[0].c)
		q.barriers = q.barriers[1:]
	}
}

// Flush waits until what has been queued is written, so that readers see what just happened.
func (q *Queue) Flush(ctx context.Context) {
	q.mu.Lock()
	if !q.busy || q.done == q.added { // its goroutine is about to end, and passes nothing any more
		q.mu.Unlock()
		return
	}
	b := &barrier{q.added, make(chan struct{})}
	q.barriers = append(q.barriers, b)
	q.mu.Unlock()
	select {
	case <-b.c:
	case <-ctx.Done():
	}
}
