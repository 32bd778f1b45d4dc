//go:build unix

// Package writequeue writes records in order, on a goroutine that exists while records wait, for callers that must not
// wait for the database. It identifies records by key only.
//
// Later never blocks. A newer write replaces a waiting one of the same key, in its place. Flush waits for the writes
// queued before it. The bound counts records of commands, not bytes.
package writequeue

import (
	"context"
	"log/slog"
	"sync"
)

// maxQueued bounds the command records that wait for the database. Sessions' own records are one each and are not
// counted.
const maxQueued = 10000

// Key identifies a write: of two with the same key only the newer is done.
type Key struct {
	Session string
	Command int // 0: the session itself
}

// Queue writes records, so that sessions' owners do not wait for the database, which a foreign lock can block for
// seconds. Writes are done in the order in which their keys were first queued. If too many commands wait, the oldest is
// dropped, counted and logged: it stays in the session's journal. The goroutine exists only while writes wait.
type Queue struct {
	Log *slog.Logger

	mu       sync.Mutex
	order    []Key
	pending  map[Key]func()
	commands int // in pending
	dropped  int
	added    uint64     // number of keys added to order so far
	done     uint64     // number of them that are written
	barriers []*barrier // oldest first
	busy     bool
}

// barrier is a waiting call of Flush.
type barrier struct {
	at uint64 // value of Queue.done at which it is released
	c  chan struct{}
}

// Enqueue queues a write; it replaces one of the same key that waits.
func (q *Queue) Enqueue(key Key, f func()) {
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

// makeRoomLocked drops the oldest command record if too many wait.
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
				q.Log.Error("database too slow; dropping the oldest command records", "waiting", maxQueued)
			}
			return
		}
	}
}

// work performs writes until none is pending.
func (q *Queue) work() {
	for {
		f := q.next()
		if f == nil {
			return
		}
		f()
		q.mu.Lock()
		q.countDoneLocked()
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
			q.countDoneLocked()
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

// countDoneLocked counts a completed write and releases barriers.
func (q *Queue) countDoneLocked() {
	q.done++
	for len(q.barriers) > 0 && q.barriers[0].at <= q.done {
		close(q.barriers[0].c)
		q.barriers = q.barriers[1:]
	}
}

// Flush waits until all writes queued so far are done, so that readers see them.
func (q *Queue) Flush(ctx context.Context) {
	q.mu.Lock()
	if !q.busy || q.done == q.added { // its goroutine is about to end and writes nothing more
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
