//go:build unix

package mcp

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
)

// Bounds of the retained events. Clients of the revisions with sessions may resume a lost stream (Last-Event-ID). The
// bounds are per protocol session, and in total.
const (
	maxSessionEvents = 1 << 20
	maxStreams       = 512 // each call has one
	maxAllEvents     = 32 << 20
	eventOverhead    = 64  // memory of an event besides its bytes
	streamOverhead   = 256 // memory of a stream besides its events
)

// errEnded is returned for streams of an ended protocol session.
var errEnded = errors.New("session ended; start a new one")

// errEventsExpired is returned if requested events were dropped.
var errEventsExpired = errors.New("later events have expired; read jobs and sessions by their ids to catch up")

// eventStore retains the newest events of each session's streams. It implements the SDK's EventStore. The SDK's own
// implementation keeps every stream until its session ends, and lets one client evict the events of all others.
type eventStore struct {
	mu       sync.Mutex
	sessions map[string]*sessionEvents
	bytes    int // total of all sessions
}

// sessionEvents are the events of a protocol session.
type sessionEvents struct {
	streams map[string]*streamEvents
	opened  []string // the streams, oldest first
	order   []string // stream of each retained event, oldest first
	bytes   int      // size of the retained events
}

// streamEvents are the events of a stream, from number first on.
type streamEvents struct {
	first    int // number of events[0]
	events   [][]byte
	isOpened bool // a client has read the stream from its start
}

// newEventStore returns an empty store.
func newEventStore() *eventStore { return &eventStore{sessions: map[string]*sessionEvents{}} }

// Open implements EventStore.
func (r *eventStore) Open(_ context.Context, session, stream string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.sessions[session]
	if p == nil {
		if stream != "" { // the session has ended already, and nothing would close the stream
			return errEnded
		}
		p = &sessionEvents{streams: map[string]*streamEvents{}}
		r.sessions[session] = p
	}
	if p.streams[stream] != nil {
		return nil
	}
	if len(p.opened) >= maxStreams {
		// the stream of notices belongs to no call and stays
		oldest := slices.IndexFunc(p.opened, func(name string) bool { return name != "" })
		r.dropStreamLocked(p, p.opened[oldest])
	}
	p.streams[stream] = &streamEvents{}
	p.opened = append(p.opened, stream)
	if stream != "" {
		p.bytes, r.bytes = p.bytes+streamOverhead, r.bytes+streamOverhead
		r.evictLocked(p)
	}
	return nil
}

// Append implements EventStore.
func (r *eventStore) Append(_ context.Context, session, stream string, data []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.sessions[session]
	if p == nil || p.streams[stream] == nil {
		return errEventsExpired
	}
	s := p.streams[stream]
	s.events = append(s.events, data)
	p.order = append(p.order, stream)
	p.bytes, r.bytes = p.bytes+eventCost(data), r.bytes+eventCost(data)
	r.evictLocked(p)
	return nil
}

// eventCost returns the memory of an event, in bytes.
func eventCost(data []byte) int { return len(data) + eventOverhead }

// evictLocked makes room after p has grown. The caller holds mu.
func (r *eventStore) evictLocked(p *sessionEvents) {
	for p.bytes > maxSessionEvents {
		r.dropOldestLocked(p)
	}
	for r.bytes > maxAllEvents {
		var most *sessionEvents
		for _, q := range r.sessions {
			if most == nil || q.bytes > most.bytes {
				most = q
			}
		}
		r.dropOldestLocked(most)
	}
}

// dropOldestLocked drops the oldest event of a session, or the stream of its oldest call if it has no events. While
// there are events, a stream without any is kept, as its answer may follow. The caller holds mu.
func (r *eventStore) dropOldestLocked(p *sessionEvents) {
	if len(p.order) == 0 {
		r.dropStreamLocked(p, p.opened[slices.IndexFunc(p.opened, func(name string) bool { return name != "" })])
		return
	}
	s := p.streams[p.order[0]]
	p.order = p.order[1:]
	n := eventCost(s.events[0])
	s.events[0] = nil
	s.events = s.events[1:]
	s.first++
	p.bytes, r.bytes = p.bytes-n, r.bytes-n
}

// dropStreamLocked drops a call's stream. The caller holds mu.
func (r *eventStore) dropStreamLocked(p *sessionEvents, stream string) {
	r.clearStreamLocked(p, stream)
	p.bytes, r.bytes = p.bytes-streamOverhead, r.bytes-streamOverhead
	delete(p.streams, stream)
	p.opened = slices.DeleteFunc(p.opened, func(name string) bool { return name == stream })
}

// clearStreamLocked drops a stream's events. The caller holds mu.
func (r *eventStore) clearStreamLocked(p *sessionEvents, stream string) {
	s := p.streams[stream]
	for _, data := range s.events {
		p.bytes, r.bytes = p.bytes-eventCost(data), r.bytes-eventCost(data)
	}
	s.events = nil
	p.order = slices.DeleteFunc(p.order, func(name string) bool { return name == stream })
}

// After implements EventStore.
func (r *eventStore) After(_ context.Context, session, stream string, index int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		events, err := r.after(session, stream, index)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, data := range events {
			if !yield(data, nil) {
				return
			}
		}
	}
}

// after returns the events after an index.
func (r *eventStore) after(session, stream string, index int) ([][]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.sessions[session]
	if p == nil || p.streams[stream] == nil {
		return nil, errEventsExpired
	}
	s := p.streams[stream]
	if stream == "" && index < 0 {
		// A client opens the stream of notices for the first time or again: the SDK numbers from 0. Events before the
		// first opening are still undelivered; those before a later one belonged to another stream.
		if s.isOpened {
			r.clearStreamLocked(p, stream)
		}
		s.first, s.isOpened = 0, true
	}
	from := index + 1 - s.first
	if from < 0 || from > len(s.events) { // dropped, or never sent
		return nil, errEventsExpired
	}
	return slices.Clone(s.events[from:]), nil
}

// SessionClosed implements EventStore.
func (r *eventStore) SessionClosed(_ context.Context, session string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.sessions[session]; p != nil {
		r.bytes -= p.bytes
		delete(r.sessions, session)
	}
	return nil
}
