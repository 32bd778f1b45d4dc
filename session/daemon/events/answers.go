//go:build unix

package events

import (
	"context"
	"crypto/rand"
	"maps"
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
	left    map[int]bool // listeners who have not answered, by process; this and the others are guarded by of.mu
	heard   map[int]bool // who has answered: only the first answer of each counts
	did     bool
	refused []string
	known   chan struct{} // closed when what came of it is known
}

// Ask begins to wait for the answers of some listeners, at least one, by their processes. Others that listen may do it, too, but
// are not waited for.
func (a *Answers) Ask(listeners map[int]bool) *Question {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open == nil {
		a.open = map[string]*Question{}
	}
	q := &Question{ID: rand.Text(), of: a, left: maps.Clone(listeners), heard: map[int]bool{}, known: make(chan struct{})}
	a.open[q.ID] = q
	return q
}

// Answer takes what one process says; why is empty where it did it. False: nobody waits for it any more.
func (a *Answers) Answer(id string, by int, why string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := a.open[id]
	if q == nil {
		return false
	}
	if q.heard[by] {
		return true
	}
	q.heard[by] = true
	delete(q.left, by)
	if q.did = why == ""; !q.did {
		q.refused = append(q.refused, why)
	}
	if q.did || len(q.left) == 0 {
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
