//go:build unix

package registry

import (
	"context"
	"sync"

	"github.com/longterm-dev/longterm/session/api"
)

// A call that starts a session may be made again with its id, by a caller who did not see its answer: it is the session that
// was started then, whatever became of that, until it is removed. The record has the id before there is a process.

// Call is a call that starts a session.
type Call struct {
	ID       string // made by its caller; empty: it cannot be made again
	Asked    string // digest of what it asks for; empty: its job knows
	outlives bool   // what becomes of the session when its caller goes is its job's to say
}

// starting are the calls that start sessions now. Each holds up those with its id.
type starting struct {
	mu  sync.Mutex // before Registry.mu
	now map[string]chan struct{}
}

// Started is the session that a call started when it was made before; nil: none.
func (h *Registry) Started(ctx context.Context, c Call) (*Handle, error) {
	e, _, err := h.startedBy(ctx, c, false)
	return e, err
}

// CreateOnce is Create for a call, unless it was made before: then it is the session of that.
func (h *Registry) CreateOnce(ctx context.Context, n api.NewSession, c Call, record func(*Handle) error) (*Handle, error) {
	e, over, err := h.startedBy(ctx, c, true)
	if e != nil || err != nil {
		return e, err
	}
	defer over()
	return h.create(ctx, n, c, record)
}

// startedBy finds the session of a call, once no other call of its id is under way. Where there is none and begin is set,
// the caller's is under way until it calls over.
func (h *Registry) startedBy(ctx context.Context, c Call, begin bool) (e *Handle, over func(), err error) {
	if c.ID == "" {
		return nil, func() {}, nil
	}
	for {
		h.starting.mu.Lock()
		other := h.starting.now[c.ID]
		if other == nil {
			defer h.starting.mu.Unlock()
			if e, err = h.byCall(c); e == nil && err == nil && begin {
				over = h.beginLocked(c.ID)
			}
			return e, over, err
		}
		h.starting.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

// beginLocked has a call be under way. The caller holds starting.mu.
func (h *Registry) beginLocked(id string) (over func()) {
	if h.starting.now == nil {
		h.starting.now = map[string]chan struct{}{}
	}
	mine := make(chan struct{})
	h.starting.now[id] = mine
	return func() {
		h.starting.mu.Lock()
		defer h.starting.mu.Unlock()
		delete(h.starting.now, id)
		close(mine)
	}
}

// byCall is the session that a call started; nil: none.
func (h *Registry) byCall(c Call) (*Handle, error) {
	h.mu.RLock()
	e := h.byid[h.bycall[c.ID]]
	h.mu.RUnlock()
	if e == nil || !e.ready.Load() {
		return nil, nil
	}
	if e.Record().Asked != c.Asked {
		return nil, IDTaken(c.ID)
	}
	return e, nil
}

// IDTaken is for a call whose id is another's.
func IDTaken(id string) *api.Error {
	return api.Errorf(api.CodeIDTaken, "the id %s is that of another call, and this one was not made", id).
		WithHint("give each call an id of its own, or none")
}
