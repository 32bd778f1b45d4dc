package drafts

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Counter keeps the number of changes of each session's draft for lists, which must not wait for a scan. Counts are made in the
// background, at most maxConcurrentCounts at a time.
type Counter struct {
	Drafts func() Drafts
	Log    *slog.Logger
	// OnChange is called with the id of a session after the number of its draft's changes has changed.
	OnChange func(id string)

	mu     sync.Mutex
	counts map[string]*draftCount
	slots  chan struct{}
}

// draftCount is the newest count of a draft. Times are the starts of scans.
type draftCount struct {
	changes     int
	known       bool
	at          time.Time     // of the scan that found changes
	tried       time.Time     // of the newest scan, perhaps a failed one; zero: none
	invalidated time.Time     // when changes were last committed, discarded or undone, or a command ended
	took        time.Duration // how long the newest scan took
	done        chan struct{} // closed at the end of the count in progress; nil: none
}

// isStale reports whether the draft was invalidated since the newest scan started, or was never scanned.
func (e *draftCount) isStale() bool { return !e.invalidated.Before(e.tried) }

const (
	maxConcurrentCounts = 2
	// A running session is counted again after recountTime, and after recountFactor times the duration of the last count.
	recountTime   = time.Second
	recountFactor = 20
)

// Get returns the number of changes of a session's draft at the last count, or nil if it was not counted.
func (c *Counter) Get(id string) *int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.counts[id]; e != nil && e.known {
		return new(e.changes)
	}
	return nil
}

// Set records the count of a scan made elsewhere, which started at a time. It ignores a scan older than the newest known one.
func (c *Counter) Set(id string, changes int, at time.Time) {
	c.mu.Lock()
	e := c.entry(id)
	hasChanged := e.set(changes, at)
	if at.After(e.tried) {
		e.tried = at
	}
	c.mu.Unlock()
	if hasChanged {
		c.OnChange(id)
	}
}

// set stores the number of a scan, and reports whether the number has changed. The caller holds mu.
func (e *draftCount) set(changes int, at time.Time) (hasChanged bool) {
	if at.Before(e.at) {
		return false
	}
	hasChanged = !e.known || e.changes != changes
	e.changes, e.known, e.at = changes, true, at
	return hasChanged
}

// entry returns the count of a draft. The caller holds mu.
func (c *Counter) entry(id string) *draftCount {
	if c.counts == nil {
		c.counts, c.slots = map[string]*draftCount{}, make(chan struct{}, maxConcurrentCounts)
	}
	e := c.counts[id]
	if e == nil {
		e = &draftCount{}
		c.counts[id] = e
	}
	return e
}

// Invalidate marks the count of a draft as stale.
func (c *Counter) Invalidate(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.counts[id]; e != nil { // else the first count is still to come
		e.invalidated = time.Now()
	}
}

// Forget removes the count of a removed session.
func (c *Counter) Forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.counts, id)
}

// Refresh starts a count if the newest one is stale or began before written, the time of the programs' last write. A live session
// is counted again only after recountTime. Refresh returns a channel that is closed when the count in progress ends, or nil if none is
// needed.
func (c *Counter) Refresh(id string, live bool, written time.Time) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entry(id)
	tooSoon := time.Since(e.tried) < max(recountTime, recountFactor*e.took)
	switch {
	case e.done != nil:
		return e.done
	case e.isStale():
	case !e.known && tooSoon:
		return nil
	case e.known && (!written.After(e.tried) || live && tooSoon):
		return nil
	}
	e.done, e.tried = make(chan struct{}), time.Now()
	go c.count(id, live, e, e.tried)
	return e.done
}

// count counts the changes of a draft, and repeats that while the count becomes stale in between.
func (c *Counter) count(id string, live bool, e *draftCount, start time.Time) {
	c.slots <- struct{}{}
	defer func() { <-c.slots }()
	for again := true; again; {
		n, err := c.Drafts().count(context.Background(), id, live)
		if err != nil { // just committed or discarded, or unreadable
			c.Log.Debug("count the changes of a draft", "session", id, "err", err)
		}
		c.mu.Lock()
		e.took = time.Since(start)
		hasChanged := err == nil && e.set(n, start)
		c.mu.Unlock()
		if hasChanged {
			c.OnChange(id)
		}
		c.mu.Lock()
		if again = e.isStale(); again {
			start = time.Now()
			e.tried = start
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
