//go:build unix

package events

import (
	"context"
	"crypto/rand"
	"maps"
	"sync"
	"time"
)

// Answers collects the replies of listeners to events that request an action.
type Answers struct {
	mu   sync.Mutex
	open map[string]*Question // by ID
}

// Question is an event that waits for replies, until one listener has performed the action or all have refused.
type Question struct {
	ID      string
	of      *Answers
	pending map[int]bool  // listeners that have not replied, by process ID; of.mu guards this and the fields below
	replied map[int]bool  // processes that have replied; only the first reply of each counts
	done    bool          // a listener has performed the action
	refused []string      // reasons of the listeners that refused
	known   chan struct{} // closed when the outcome is known
}

// Ask starts to wait for the replies of the given listeners, at least one, by process ID. Other listeners may perform
// the action too, but are not waited for.
func (a *Answers) Ask(listeners map[int]bool) *Question {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open == nil {
		a.open = map[string]*Question{}
	}
	q := &Question{ID: rand.Text(), of: a, pending: maps.Clone(listeners), replied: map[int]bool{}, known: make(chan struct{})}
	a.open[q.ID] = q
	return q
}

// Answer records the reply of one process. An empty why means that it performed the action. It returns false if the
// question is closed.
func (a *Answers) Answer(id string, by int, why string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := a.open[id]
	if q == nil {
		return false
	}
	if q.replied[by] {
		return true
	}
	q.replied[by] = true
	delete(q.pending, by)
	if q.done = why == ""; !q.done {
		q.refused = append(q.refused, why)
	}
	if q.done || len(q.pending) == 0 {
		delete(a.open, id)
		close(q.known)
	}
	return true
}

// Await waits up to most for the outcome. If did is false, refused holds the reasons of the listeners; it is empty if
// none replied.
func (q *Question) Await(ctx context.Context, most time.Duration) (did bool, refused []string) {
	late := time.NewTimer(most)
	defer late.Stop()
	select {
	case <-q.known:
	case <-late.C:
	case <-ctx.Done():
	}
	q.of.mu.Lock()
	defer q.of.mu.Unlock()
	delete(q.of.open, q.ID)
	return q.done, q.refused
}
