package drafts

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Counter keeps the number of changes of each session's draft for lists, which must not wait for a scan. Counts are made in the
// background, at most countersAtOnce at a time.
type Counter struct {
	Drafts func() Drafts
	Log    *slog.Logger
	// OnChange is called with the id of a session after the number of its draft's changes has changed.
	OnChange func(id string)

	mu    sync.Mutex
	of    map[string]*counted
	slots chan struct{}
}

// counted is the newest count of a draft.
type counted struct {
	changes int
	known   bool
	stale   bool          // changes were committed, discarded or undone, or a command ended, since the count began
	at      time.Time     // when it began
	took    time.Duration // how long it took
	done    chan struct{} // closed at the end of the count in progress; nil: none
}

const (
	countersAtOnce = 2
	// A running session is counted again after recountTime, and after recountFactor times the duration of the last count.
	recountTime   = time.Second
	recountFactor = 20
)

// Get returns the number of changes of a session's draft at the last count, or nil if it was not counted.
func (c *Counter) Get(id string) *int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.of[id]; e != nil && e.known {
		return new(e.changes)
	}
	return nil
}

// Set records a count that was made elsewhere, and began at a time.
func (c *Counter) Set(id string, changes int, at time.Time) {
	c.mu.Lock()
	e := c.entry(id)
	isNew := !e.known || e.changes != changes
	e.changes, e.known, e.stale, e.at = changes, true, false, at
	c.mu.Unlock()
	if isNew {
		c.OnChange(id)
	}
}

// entry returns the count of a draft. The caller holds mu.
func (c *Counter) entry(id string) *counted {
	if c.of == nil {
		c.of, c.slots = map[string]*counted{}, make(chan struct{}, countersAtOnce)
	}
	e := c.of[id]
	if e == nil {
		e = &counted{}
		c.of[id] = e
	}
	return e
}

// Invalidate marks the count of a draft as old.
func (c *Counter) Invalidate(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entry(id).stale = true
}

// Forget removes the count of a removed session.
func (c *Counter) Forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.of, id)
}

// Refresh starts a count if programs of the session may have written since the last one, which they did last at the time written.
// It returns a channel that is closed when the count in progress has ended, or nil if the last one holds.
func (c *Counter) Refresh(id string, live bool, written time.Time) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entry(id)
	switch {
	case e.done != nil:
		return e.done
	case !e.known, e.stale:
	case !written.After(e.at), live && time.Since(e.at) < max(recountTime, recountFactor*e.took):
		return nil
	}
	e.done, e.stale, e.at = make(chan struct{}), false, time.Now()
	go c.count(id, live, e)
	return e.done
}

// count counts the changes of a draft, again if the number became old during the count.
func (c *Counter) count(id string, live bool, e *counted) {
	c.slots <- struct{}{}
	defer func() { <-c.slots }()
	for again := true; again; {
		start := time.Now()
		n, err := c.Drafts().count(context.Background(), id, live)
		if err != nil { // just committed or discarded, or unreadable
			c.Log.Debug("count the changes of a draft", "session", id, "err", err)
		}
		c.mu.Lock()
		isNew := err == nil && (!e.known || e.changes != n)
		if err == nil {
			e.changes, e.known, e.took = n, true, time.Since(start)
		}
		c.mu.Unlock()
		if isNew {
			c.OnChange(id)
		}
		c.mu.Lock()
		if again = e.stale; again {
			e.stale, e.at = false, time.Now()
		} else {
			close(e.done)
			e.done = nil
		}
		c.mu.Unlock()
	}
}

// count returns the number of changes of a session's draft.
func (d Drafts) count(ctx context.Context, id string, live bool) (int, error) {
	found, err := d.Open(id, live)
	if err != nil {
		return 0, err
	}
	changes, err := found.Changes(ctx)
	return len(changes.Changes), err
}
