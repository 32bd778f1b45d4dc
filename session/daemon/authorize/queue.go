package authorize

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// queue holds the open approvals. It has no clock, file or goroutine: the caller stores and publishes what it returns.
//
//	open → pending ─ claim → (stored) → close           answered
//	                └ unclaim                            storing failed: pending again
//	         leave, by the last request → gone
//
// Identical requests, those with the same digest, share one entry. A request may have several holders: callers that
// repeated it with the same id. A request without a holder stays until it is dropped.
type queue struct {
	last     int64
	closed   int                      // number of closed approvals
	open     map[int64]*entry         // open approvals, by number
	digests  map[string]*entry        // pending entries without a claim, by digest of the request
	requests map[string]*entry        // entries, by ID of the request
	changes  map[string]chan struct{} // closed when a session's open approvals change, for sessions with a reader
}

// entry is an approval that is open.
type entry struct {
	n         int64 // the approval's number
	digest    string
	request   Request  // the first request, truncated
	cut       bool     // the request is truncated
	scope     []scoped // what an answer for the session allows
	view      api.Approval
	rules     map[ruleKey]inEffect // rules of the last judgement; nil: those of the previous daemon
	last      time.Time            // time of the last request
	holders   map[string]int       // number of holders, by ID of the request
	answering string               // the answer and its author while an answer is in progress
	done      chan struct{}        // closed when the approval ends; view and err are final then
	err       error

	saving sync.Mutex // held while the record is written, so that the newest is last; before the gateway's
}

// isClaimed reports whether an answer is in progress.
func (e *entry) isClaimed() bool { return e.answering != "" }

var errNotOpen = errors.New("it is not pending")

// claimedError reports the answer in progress and its author.
type claimedError struct{ how string }

func (e *claimedError) Error() string { return "it is being answered: " + e.how }

func newQueue(last int64) *queue {
	return &queue{last: last, open: map[int64]*entry{}, digests: map[string]*entry{}, requests: map[string]*entry{}, changes: map[string]chan struct{}{}}
}

// load adds an approval of the previous daemon with its requests, which have no holders yet.
func (q *queue) load(e *entry, askings []string) {
	e.holders, e.done, e.last = map[string]int{}, make(chan struct{}), e.view.Asked
	q.last = max(q.last, e.n)
	q.open[e.n], q.digests[e.digest] = e, e
	for _, id := range askings {
		e.holders[id] = 0
		q.requests[id] = e
	}
	e.view.Count = max(1, len(askings))
}

// ask adds a request that needs a user's decision: to a new entry, or to that of identical requests. changed reports
// whether the entry has to be stored and published.
func (q *queue) ask(id, digest string, a Request) (e *entry, isNew, changed bool) {
	if e = q.requests[id]; e != nil { // asked again: it waited before
		e.holders[id]++
		return e, false, false
	}
	if e = q.digests[digest]; e == nil {
		q.last++
		e = &entry{n: q.last, digest: digest, request: a, holders: map[string]int{}, done: make(chan struct{})}
		q.open[e.n], q.digests[digest] = e, e
		isNew = true
	}
	e.holders[id] = 1
	q.requests[id] = e
	e.view.Count = len(e.holders)
	q.notifyChange(a.Session)
	return e, isNew, true
}

// release releases one hold of a request and returns the number left.
func (q *queue) release(id string) (left int) {
	e := q.requests[id]
	if e == nil {
		return 0
	}
	e.holders[id] = max(0, e.holders[id]-1)
	return e.holders[id]
}

// drop withdraws a request without holders. gone is the entry if this was its last request; otherwise less is the entry
// that lost one.
func (q *queue) drop(id string) (gone, less *entry) {
	e := q.requests[id]
	if e == nil || e.holders[id] > 0 || e.isClaimed() {
		return nil, nil
	}
	delete(q.requests, id)
	delete(e.holders, id)
	if len(e.holders) > 0 {
		e.view.Count = len(e.holders)
		return nil, e
	}
	q.remove(e)
	return e, nil
}

// unheld returns the requests without holders.
func (q *queue) unheld() (ids []string) {
	for id, e := range q.requests {
		if e.holders[id] == 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// claim reserves an entry for an answer: no other answer and no further request can join. Other callers see how until
// it is closed.
func (q *queue) claim(n int64, how string) (*entry, error) {
	e := q.open[n]
	switch {
	case e == nil:
		return nil, errNotOpen
	case e.isClaimed():
		return nil, &claimedError{e.answering}
	}
	e.answering = how
	if q.digests[e.digest] == e {
		delete(q.digests, e.digest)
	}
	return e, nil
}

// unclaim releases an entry whose answer failed.
func (q *queue) unclaim(e *entry) {
	e.answering = ""
	if q.digests[e.digest] == nil { // identical requests may have a new entry by now
		q.digests[e.digest] = e
	}
}

// close ends an entry and wakes the callers that wait for it.
func (q *queue) close(e *entry, err error) {
	q.remove(e)
	q.closed++
	e.err = err
	close(e.done)
}

func (q *queue) remove(e *entry) {
	q.notifyChange(e.view.Session)
	delete(q.open, e.n)
	if q.digests[e.digest] == e {
		delete(q.digests, e.digest)
	}
	for id := range e.holders {
		if q.requests[id] == e {
			delete(q.requests, id)
		}
	}
}

// pending lists the entries that can be answered, oldest first.
func (q *queue) pending() (list []*entry) {
	for _, n := range slices.Sorted(maps.Keys(q.open)) {
		if e := q.open[n]; !e.isClaimed() {
			list = append(list, e)
		}
	}
	return list
}

// openIn lists the IDs of a session's open approvals, oldest first.
func (q *queue) openIn(session string) (ids []string) {
	for _, n := range slices.Sorted(maps.Keys(q.open)) {
		if e := q.open[n]; e.view.Session == session && !e.hasOnlyRetryingInput() {
			ids = append(ids, e.view.ID)
		}
	}
	return ids
}

// TypedRequestPrefix is the prefix of the ids of requests for typed input.
const TypedRequestPrefix = "typed."

// hasOnlyRetryingInput reports whether all requests of the entry are for typed input whose callers were rejected and
// retry after the approval.
func (e *entry) hasOnlyRetryingInput() bool {
	for id, holders := range e.holders {
		if holders > 0 || !strings.HasPrefix(id, TypedRequestPrefix) {
			return false
		}
	}
	return len(e.holders) > 0
}

// change returns a channel that is closed at the next change of a session's open approvals.
func (q *queue) change(session string) <-chan struct{} {
	c := q.changes[session]
	if c == nil {
		c = make(chan struct{})
		q.changes[session] = c
	}
	return c
}

func (q *queue) notifyChange(session string) {
	if c := q.changes[session]; c != nil {
		close(c)
		delete(q.changes, session)
	}
}

// oldestBlocking returns the oldest entry, requested since then, that blocks a running program of a session, or nil.
func (q *queue) oldestBlocking(session string, since time.Time) (first *entry) {
	for _, e := range q.open {
		if e.view.Session == session && (e.request.Kind == Execution || e.request.Kind == Network) && !e.last.Before(since) && (first == nil || e.n < first.n) {
			first = e
		}
	}
	return first
}
