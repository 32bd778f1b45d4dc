//go:build unix

package registry

import (
	"context"
	"sync"

	"github.com/longterm-dev/longterm/session/api"
)

// A client that did not receive the answer to a call that starts a session may repeat it with the same id. It gets the
// session that was started then, in any state, until that is removed. The record has the id before the process is
// started.

// Call is a call that starts a session.
type Call struct {
	ID            string // chosen by the caller; if empty, the call is not repeatable
	RequestDigest string // digest of the request; if empty, the job checks it
	outlives      bool   // the job decides what happens if its caller disconnects
}

// starting holds the calls in progress. Each blocks other calls with its id.
type starting struct {
	mu         sync.Mutex               // before Registry.mu
	inProgress map[string]chan struct{} // closed when the call with this ID ends
}

// Started returns the session that an earlier call with the same id started, or nil.
func (h *Registry) Started(ctx context.Context, c Call) (*Handle, error) {
	e, _, err := h.startedBy(ctx, c, false)
	return e, err
}

// CreateIdempotent creates a session, or returns that of an earlier call with the same id.
func (h *Registry) CreateIdempotent(ctx context.Context, n api.NewSession, c Call, record func(*Handle) error) (*Handle, error) {
	e, over, err := h.startedBy(ctx, c, true)
	if e != nil || err != nil {
		return e, err
	}
	defer over()
	return h.create(ctx, n, c, record)
}

// startedBy returns the session of a call, after any concurrent call with its id. If none exists and begin is set, the call is
// marked as in progress until done is called.
func (h *Registry) startedBy(ctx context.Context, c Call, begin bool) (e *Handle, done func(), err error) {
	if c.ID == "" {
		return nil, func() {}, nil
	}
	for {
		h.starting.mu.Lock()
		other := h.starting.inProgress[c.ID]
		if other == nil {
			defer h.starting.mu.Unlock()
			if e, err = h.byCall(c); e == nil && err == nil && begin {
				done = h.beginLocked(c.ID)
			}
			return e, done, err
		}
		h.starting.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

// beginLocked marks a call as in progress. The caller holds starting.mu.
func (h *Registry) beginLocked(id string) (done func()) {
	if h.starting.inProgress == nil {
		h.starting.inProgress = map[string]chan struct{}{}
	}
	mine := make(chan struct{})
	h.starting.inProgress[id] = mine
	return func() {
		h.starting.mu.Lock()
		defer h.starting.mu.Unlock()
		delete(h.starting.inProgress, id)
		close(mine)
	}
}

// byCall returns the session that a call started, or nil.
func (h *Registry) byCall(c Call) (*Handle, error) {
	h.mu.RLock()
	e := h.byid[h.bycall[c.ID]]
	h.mu.RUnlock()
	if e == nil || !e.ready.Load() {
		return nil, nil
	}
	if e.Record().RequestDigest != c.RequestDigest {
		return nil, IDTaken(c.ID)
	}
	return e, nil
}

// IDTaken returns the error for a call whose id belongs to another.
func IDTaken(id string) *api.Error {
	return api.Errorf(api.CodeIDTaken, "the id %s is that of another call, and this one was not made", id).
		WithHint("give each call an id of its own, or none")
}
