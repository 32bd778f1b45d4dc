//go:build unix

package events

import (
	"context"
	"crypto/rand"
	"sync"
	"time"
)

// Answers gathers what listeners say to events that ask something of them.
type Answers struct {
	mu   sync.Mutex
	open map[string]*Question // by ID
}

// Question is an event that waits for answers: until one listener did what it asks for, or all refused.
type Question struct {
	ID      string
	of      *Answers
	left    int // listeners who have not answered; this and the others are guarded by of.mu
	did     bool
	refused []string
	known   chan struct{} // closed when what came of it is known
}

// Ask begins to wait for the answers of some listeners, at least one.
func (a *Answers) Ask(listeners int) *Question {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open == nil {
		a.open = map[string]*Question{}
	}
	q := &Question{ID: rand.Text(), of: a, left: listeners, known: make(chan struct{})}
	a.open[q.ID] = q
	return q
}

// Answer takes what one listener says; why is empty where it did it. False: nobody waits for it any more.
func (a *Answers) Answer(id, why string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := a.open[id]
	if q == nil {
		return false
	}
	q.left--
	if q.did = why == ""; !q.did {
		q.refused = append(q.refused, why)
	}
	if q.did || q.left == 0 {
		delete(a.open, id)
		close(q.known)
	}
	return true
}

// Await waits for what comes of it, for some time at most. Where no listener did it, refused is why; where that is
// empty, too, none has answered.
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
	return q.did, q.refused
}
