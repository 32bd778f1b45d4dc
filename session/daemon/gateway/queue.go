package gateway

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// queue is the pure machine of the approvals that are open. It has no clock, file or goroutine: who calls it
// writes down what it returns, and tells of it.
//
//	open → pending ─ claim → (written down) → close     answered
//	                └ unclaim                            writing failed: pending again
//	         leave, of the last asking → gone
//
// Identical askings, those of one digest, are one entry. An asking may have several holders: whoever asked
// twice with the same id. One that nobody holds stays until it is dropped.
type queue struct {
	last    int64
	closed  int // how many were closed
	open    map[int64]*entry
	digests map[string]*entry // of those that are pending and not claimed
	askings map[string]*entry
	changes map[string]chan struct{} // closed when what is open of a session has changed, of those that are looked at
}

// entry is an approval that is open.
type entry struct {
	n         int64
	digest    string
	ask       Ask      // of the first who asked, within bounds
	cut       bool     // it is not all that was asked
	scope     []scoped // what an answer for the session allows
	view      api.Approval
	rules     map[ruledBy]inEffect // by which it was judged last; nil: by those of the daemon before
	last      time.Time            // when it was asked for last
	askings   map[string]int       // holders of each
	answering string               // how, and by whom, while somebody answers it
	done      chan struct{}        // closed when it is over; view and err stand then
	err       error

	saving sync.Mutex // held while the record is written, so that the newest is last; before the gateway's
}

// claimed says that somebody answers it.
func (e *entry) claimed() bool { return e.answering != "" }

var errNotOpen = errors.New("it is not pending")

// claimedError says how an entry is being answered, and by whom.
type claimedError struct{ how string }

func (e *claimedError) Error() string { return "it is being answered: " + e.how }

func newQueue(last int64) *queue {
	return &queue{last: last, open: map[int64]*entry{}, digests: map[string]*entry{}, askings: map[string]*entry{}, changes: map[string]chan struct{}{}}
}

// load puts in an approval that the daemon before left, with those that asked, whom nobody holds yet.
func (q *queue) load(e *entry, askings []string) {
	e.askings, e.done, e.last = map[string]int{}, make(chan struct{}), e.view.Asked
	q.last = max(q.last, e.n)
	q.open[e.n], q.digests[e.digest] = e, e
	for _, id := range askings {
		e.askings[id] = 0
		q.askings[id] = e
	}
	e.view.Count = max(1, len(askings))
}

// ask is an asking that a person has to answer: an entry of its own, or that of those who ask the same.
// changed says that it is to be written down and told.
func (q *queue) ask(id, digest string, a Ask) (e *entry, isNew, changed bool) {
	if e = q.askings[id]; e != nil { // asked again: it waited before
		e.askings[id]++
		return e, false, false
	}
	if e = q.digests[digest]; e == nil {
		q.last++
		e = &entry{n: q.last, digest: digest, ask: a, askings: map[string]int{}, done: make(chan struct{})}
		q.open[e.n], q.digests[digest] = e, e
		isNew = true
	}
	e.askings[id] = 1
	q.askings[id] = e
	e.view.Count = len(e.askings)
	q.changed(a.Session)
	return e, isNew, true
}

// letGo gives one hold of an asking up, and says how many are left.
func (q *queue) letGo(id string) (left int) {
	e := q.askings[id]
	if e == nil {
		return 0
	}
	e.askings[id] = max(0, e.askings[id]-1)
	return e.askings[id]
}

// drop takes an asking back that nobody holds. gone is the entry, if it was the last that waited for it;
// else less is the one that has an asking less.
func (q *queue) drop(id string) (gone, less *entry) {
	e := q.askings[id]
	if e == nil || e.askings[id] > 0 || e.claimed() {
		return nil, nil
	}
	delete(q.askings, id)
	delete(e.askings, id)
	if len(e.askings) > 0 {
		e.view.Count = len(e.askings)
		return nil, e
	}
	q.remove(e)
	return e, nil
}

// unheld are the askings that nobody holds.
func (q *queue) unheld() (ids []string) {
	for id, e := range q.askings {
		if e.askings[id] == 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// claim takes an entry to answer it: nobody else can, and nobody joins it any more. how is what others are told
// until it is closed.
func (q *queue) claim(n int64, how string) (*entry, error) {
	e := q.open[n]
	switch {
	case e == nil:
		return nil, errNotOpen
	case e.claimed():
		return nil, &claimedError{e.answering}
	}
	e.answering = how
	if q.digests[e.digest] == e {
		delete(q.digests, e.digest)
	}
	return e, nil
}

// unclaim gives an entry back that could not be answered.
func (q *queue) unclaim(e *entry) {
	e.answering = ""
	if q.digests[e.digest] == nil { // else others who ask the same have one of their own by now
		q.digests[e.digest] = e
	}
}

// close ends an entry: those who wait for it are woken.
func (q *queue) close(e *entry, err error) {
	q.remove(e)
	q.closed++
	e.err = err
	close(e.done)
}

func (q *queue) remove(e *entry) {
	q.changed(e.view.Session)
	delete(q.open, e.n)
	if q.digests[e.digest] == e {
		delete(q.digests, e.digest)
	}
	for id := range e.askings {
		if q.askings[id] == e {
			delete(q.askings, id)
		}
	}
}

// pending lists the entries that can be answered, oldest first.
func (q *queue) pending() (list []*entry) {
	for _, n := range slices.Sorted(maps.Keys(q.open)) {
		if e := q.open[n]; !e.claimed() {
			list = append(list, e)
		}
	}
	return list
}

// of lists the ids of a session's open approvals, oldest first.
func (q *queue) of(session string) (ids []string) {
	for _, n := range slices.Sorted(maps.Keys(q.open)) {
		if e := q.open[n]; e.view.Session == session && !e.left() {
			ids = append(ids, e.view.ID)
		}
	}
	return ids
}

// TypedAsking begins the ids of askings about what is typed.
const TypedAsking = "typed."

// left says that all that was asked about is input whose callers were told, and come again when it is allowed.
func (e *entry) left() bool {
	for id, holders := range e.askings {
		if holders > 0 || !strings.HasPrefix(id, TypedAsking) {
			return false
		}
	}
	return len(e.askings) > 0
}

// change is closed when what is open of a session has changed since.
func (q *queue) change(session string) <-chan struct{} {
	c := q.changes[session]
	if c == nil {
		c = make(chan struct{})
		q.changes[session] = c
	}
	return c
}

func (q *queue) changed(session string) {
	if c := q.changes[session]; c != nil {
		close(c)
		delete(q.changes, session)
	}
}

// within is the oldest entry that a program of a session waits for and that was asked for since then; nil: none.
func (q *queue) within(session string, since time.Time) (first *entry) {
	for _, e := range q.open {
		if e.view.Session == session && (e.ask.Kind == Execution || e.ask.Kind == Network) && !e.last.Before(since) && (first == nil || e.n < first.n) {
			first = e
		}
	}
	return first
}
