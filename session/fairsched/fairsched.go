// Package fairsched schedules a server's requests fairly: a few run at a time, and clients take turns.
//
// Ten thousand requests of one runaway client keep the processor busy for a while. Another client's request waits for
// the few running ones only, not for all. Classes (lanes) take turns, such as one per client and tool; within a class
// its client queues (lines) take turns, such as one per session.
//
//	connection → its next request is read and parsed (Listener, in a slot of its own kind)
//	  → class, client queue → one of the slots → the request's work → end
//
// A crowded class gets only some of the slots (Crowds), so that processors stay free for new clients: while all of them
// are busy, new requests are not even read.
//
// A request gives its slot back while it waits for something. When it continues, it precedes requests of its class that
// have not started, so that started work finishes. A request that holds its slot for longer than a lease loses it: a
// client that stops reading blocks no other.
package fairsched

import (
	"context"
	"sync"
	"time"
)

// Scheduler holds slots for work and the requests that wait for one.
type Scheduler struct {
	most int // slots of a lane with a crowd

	mu    sync.Mutex
	free  int
	lanes map[string]*class // those that have slots or wait for some
	turn  []*class          // classes with waiting requests, the next first
}

// crowd is how many waiting requests make a class crowded.
const crowd = 16

// lease is how long anything keeps a slot.
const lease = 50 * time.Millisecond

// class holds the waiting requests of one class.
type class struct {
	name    string
	held    int       // slots
	waiting int       // in its queues, canceled ones too
	begun   []*waiter // requests that continue
	lines   map[string]*clientQueue
	turn    []*clientQueue // queues of requests that start
}

// clientQueue is those of one session of the protocol.
type clientQueue struct {
	name  string
	queue []*waiter
}

// waiter is one waiting request. A canceled one stays in its queue until its turn.
type waiter struct {
	turn        chan struct{} // closed when it comes
	given, gone bool
}

// New makes slots.
func New(slots int) *Scheduler {
	return &Scheduler{most: slots, free: slots, lanes: map[string]*class{}}
}

// Crowds limits a crowded class to the given number of slots. Call it before the first request.
func (t *Scheduler) Crowds(slots int) *Scheduler {
	t.most = slots
	return t
}

// enter waits for a slot.
func (t *Scheduler) enter(ctx context.Context, lane, line string, begun bool) error {
	t.mu.Lock()
	q := t.laneLocked(lane)
	if t.free > 0 && t.mayLocked(q) {
		t.free--
		q.held++
		t.mu.Unlock()
		return nil
	}
	w := &waiter{turn: make(chan struct{})}
	if q.waiting == 0 {
		t.turn = append(t.turn, q)
	}
	q.queue(line, begun, w)
	t.mu.Unlock()
	select {
	case <-w.turn:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	w.gone = true
	given := w.given
	t.mu.Unlock()
	if given {
		t.leave(lane)
	}
	return ctx.Err()
}

func (t *Scheduler) laneLocked(name string) *class {
	q := t.lanes[name]
	if q == nil {
		q = &class{name: name, lines: map[string]*clientQueue{}}
		t.lanes[name] = q
	}
	return q
}

// mayLocked reports whether class q may use one more slot.
func (t *Scheduler) mayLocked(q *class) bool {
	return q.held < t.most || q.waiting < crowd
}

// queue appends a waiting request.
func (q *class) queue(of string, begun bool, w *waiter) {
	q.waiting++
	if begun {
		q.begun = append(q.begun, w)
		return
	}
	x := q.lines[of]
	if x == nil {
		x = &clientQueue{name: of}
		q.lines[of] = x
		q.turn = append(q.turn, x)
	}
	x.queue = append(x.queue, w)
}

// leave takes a slot back from a lane, and gives it to the first of the lane whose turn it is.
func (t *Scheduler) leave(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free++
	q := t.lanes[name]
	q.held--
	t.dropLocked(q)
	for i := 0; t.free > 0 && i < len(t.turn); {
		q := t.turn[i]
		if !t.mayLocked(q) {
			i++
			continue
		}
		next := q.next()
		t.turn = append(t.turn[:i], t.turn[i+1:]...)
		if next != nil {
			t.free--
			q.held++
			next.given = true
			close(next.turn)
		}
		if q.waiting > 0 {
			t.turn = append(t.turn, q)
		}
		t.dropLocked(q)
	}
}

// dropLocked removes a class without requests.
func (t *Scheduler) dropLocked(q *class) {
	if q.held == 0 && q.waiting == 0 {
		delete(t.lanes, q.name)
	}
}

// next removes and returns the first request that was not canceled, or nil.
func (q *class) next() *waiter {
	if w := q.first(&q.begun); w != nil {
		return w
	}
	for len(q.turn) > 0 {
		x := q.turn[0]
		q.turn = q.turn[1:]
		w := q.first(&x.queue)
		if len(x.queue) > 0 {
			q.turn = append(q.turn, x)
		} else {
			delete(q.lines, x.name)
		}
		if w != nil {
			return w
		}
	}
	return nil
}

// first removes and returns the first request of a queue that was not canceled, or nil.
func (q *class) first(queue *[]*waiter) *waiter {
	for len(*queue) > 0 {
		w := (*queue)[0]
		(*queue)[0] = nil
		q.waiting--
		if *queue = (*queue)[1:]; !w.gone {
			return w
		}
	}
	return nil
}

// Slot is what a request works in. Its methods do nothing for nil.
type Slot struct {
	turns      *Scheduler
	lane, line string
	arrived    time.Time // the request did

	mu          sync.Mutex
	held, taken bool // taken: held or waited for
	ended       bool
	lease       *time.Timer
}

// Begin waits for a slot of a class, in the client queue named line.
func (t *Scheduler) Begin(ctx context.Context, lane, line string) (*Slot, error) {
	s := &Slot{turns: t, lane: lane, line: line, arrived: time.Now()}
	return s, s.take(ctx, false)
}

func (s *Slot) take(ctx context.Context, begun bool) error {
	s.mu.Lock()
	if s.taken || s.ended {
		s.mu.Unlock()
		return nil
	}
	s.taken = true
	s.mu.Unlock()
	err := s.turns.enter(ctx, s.lane, s.line, begun)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held = err == nil; !s.held {
		s.taken = false
		return err
	}
	if s.ended {
		s.giveLocked()
		return nil
	}
	if s.lease == nil {
		s.lease = time.AfterFunc(lease, s.Give)
	} else {
		s.lease.Reset(lease)
	}
	return nil
}

// Give gives the slot back until GoOn.
func (s *Slot) Give() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.giveLocked()
}

func (s *Slot) giveLocked() {
	if !s.held {
		return
	}
	s.held, s.taken = false, false
	if s.lease != nil {
		s.lease.Stop()
	}
	s.turns.leave(s.lane)
}

// GoOn takes the slot back, ahead of requests that have not started. If ctx ends first, the request continues without
// one.
func (s *Slot) GoOn(ctx context.Context) {
	if s != nil {
		_ = s.take(ctx, true)
	}
}

// End gives the slot back for good.
func (s *Slot) End() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.giveLocked()
}

// ArrivedAt returns when the request arrived, before it waited for a slot; zero for nil.
func (s *Slot) ArrivedAt() time.Time {
	if s == nil {
		return time.Time{}
	}
	return s.arrived
}

// ArrivedBefore sets an earlier arrival time, of a request that waited for another slot first; zero changes nothing. Call
// it before sharing the slot.
func (s *Slot) ArrivedBefore(at time.Time) {
	if !at.IsZero() && at.Before(s.arrived) {
		s.arrived = at
	}
}

type slotKey struct{}

// With puts a slot into a request's context.
func With(ctx context.Context, s *Slot) context.Context {
	return context.WithValue(ctx, slotKey{}, s)
}

// Wait gives the slot of a request back, if it has one, until what it returns is called.
func Wait(ctx context.Context) (over func()) {
	s, _ := ctx.Value(slotKey{}).(*Slot)
	s.Give()
	return func() { s.GoOn(ctx) }
}

// TimeRemaining returns how much of d is left to answer the request: the time it waited for a slot counts. It returns d
// if ctx has no slot, and never a negative time.
func TimeRemaining(ctx context.Context, d time.Duration) time.Duration {
	s, _ := ctx.Value(slotKey{}).(*Slot)
	if s == nil {
		return d
	}
	return max(0, min(d, d-time.Since(s.arrived)))
}
