// Package turns has the requests of a server worked on by a few at a time, in turn.
//
// Ten thousand requests at once, of one client gone wild, keep the processor busy for a while; what another asks for waits for
// the few that are worked on and not for all. Turns are taken by lanes, as one of each client and tool, and in a lane by
// lines, as those of a client's sessions.
//
//	connection → its next request is read and parsed (Listener, in a slot of its own kind)
//	  → lane, line → one of the slots → the request's work → end
//
// A lane in which a crowd waits has some of the slots only (Crowds), so that processors are left for who comes next: what comes
// in is not even heard of while all of them are at work.
//
// A slot is given back while a request waits for something. When it goes on, it comes before those of its lane that have not
// begun, so that what was begun gets done. Whatever keeps a slot for the length of lease has lost it: a client that reads no
// more keeps nobody else from anything.
package turns

import (
	"context"
	"sync"
	"time"
)

// Turns are slots for work, and who waits for one.
type Turns struct {
	most int // slots of a lane with a crowd

	mu    sync.Mutex
	free  int
	lanes map[string]*lane // those that have slots or wait for some
	turn  []*lane          // those with somebody that waits, the next first
}

// crowd is how many who wait in a lane are one.
const crowd = 16

// lease is how long anything keeps a slot.
const lease = 50 * time.Millisecond

// lane is who waits for a turn of one lane.
type lane struct {
	name    string
	held    int       // slots
	waiting int       // in its queues, also who went away
	begun   []*waiter // who goes on
	lines   map[string]*line
	turn    []*line // of those who begin
}

// line is those of one session of the protocol.
type line struct {
	name  string
	queue []*waiter
}

// waiter is one who waits. Who went away stays in its queue until its turn.
type waiter struct {
	turn        chan struct{} // closed when it comes
	given, gone bool
}

// New makes slots.
func New(slots int) *Turns {
	return &Turns{most: slots, free: slots, lanes: map[string]*lane{}}
}

// Crowds has a lane in which a crowd waits have so many slots at most. It is to be called before there is anyone.
func (t *Turns) Crowds(slots int) *Turns {
	t.most = slots
	return t
}

// enter waits for a slot.
func (t *Turns) enter(ctx context.Context, lane, line string, begun bool) error {
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

func (t *Turns) laneLocked(name string) *lane {
	q := t.lanes[name]
	if q == nil {
		q = &lane{name: name, lines: map[string]*line{}}
		t.lanes[name] = q
	}
	return q
}

// mayLocked says that a lane may have one more slot.
func (t *Turns) mayLocked(q *lane) bool {
	return q.held < t.most || q.waiting < crowd
}

// queue has somebody wait.
func (q *lane) queue(of string, begun bool, w *waiter) {
	q.waiting++
	if begun {
		q.begun = append(q.begun, w)
		return
	}
	x := q.lines[of]
	if x == nil {
		x = &line{name: of}
		q.lines[of] = x
		q.turn = append(q.turn, x)
	}
	x.queue = append(x.queue, w)
}

// leave takes a slot back from a lane, and gives it to the first of the lane whose turn it is.
func (t *Turns) leave(name string) {
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

// dropLocked forgets a lane that nobody is in.
func (t *Turns) dropLocked(q *lane) {
	if q.held == 0 && q.waiting == 0 {
		delete(t.lanes, q.name)
	}
}

// next takes the first out who is still there; nil: all have gone away.
func (q *lane) next() *waiter {
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

// first takes the first out of a queue who is still there.
func (q *lane) first(queue *[]*waiter) *waiter {
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
	turns      *Turns
	lane, line string
	came       time.Time // the request did

	mu          sync.Mutex
	held, taken bool // taken: it is held, or somebody waits for it
	ended       bool
	lease       *time.Timer
}

// Begin waits for a slot of a lane, in the line of a session.
func (t *Turns) Begin(ctx context.Context, lane, line string) (*Slot, error) {
	s := &Slot{turns: t, lane: lane, line: line, came: time.Now()}
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

// GoOn takes it again, before those that have not begun. It goes on without one when ctx ends.
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

// Came is when the request came, before it waited for its turn; zero for nil.
func (s *Slot) Came() time.Time {
	if s == nil {
		return time.Time{}
	}
	return s.came
}

// CameBefore says that the request came at a time, when it waited for another slot before; zero: it did not. It is to be
// called before others know the slot.
func (s *Slot) CameBefore(at time.Time) {
	if !at.IsZero() && at.Before(s.came) {
		s.came = at
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

// Left is what is left of the time within which a request is to be answered: what it waited for its turn counts. It is d
// for one without a slot, and never negative.
func Left(ctx context.Context, d time.Duration) time.Duration {
	s, _ := ctx.Value(slotKey{}).(*Slot)
	if s == nil {
		return d
	}
	return max(0, min(d, d-time.Since(s.came)))
}
