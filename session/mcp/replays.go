//go:build unix

package mcp

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
)

// Bounds of the events kept for clients of the revisions with sessions, which may resume a lost stream (Last-Event-ID):
// per protocol session, and in total.
const (
	maxReplayed    = 1 << 20
	maxStreams     = 512 // each call is one
	maxAllReplayed = 32 << 20
	eventOverhead  = 64  // memory of an event besides its bytes
	streamOverhead = 256 // memory of a stream besides its events
)

var errEnded = errors.New("session ended; start a new one")

var errNotReplayed = errors.New("later events have expired; read jobs and sessions by their ids to catch up")

// replays keeps the newest events of each session's streams. It implements the SDK's EventStore, whose own keeps every stream
// for as long as its session, and lets one client push out the events of all others.
type replays struct {
	mu       sync.Mutex
	sessions map[string]*replay
	bytes    int
}

// replay is one session's.
type replay struct {
	streams map[string]*replayed
	opened  []string // the streams, oldest first
	order   []string // of the stream that each kept event belongs to, oldest first
	bytes   int
}

// replayed is a stream: its events from the first-th on.
type replayed struct {
	first  int
	events [][]byte
	begun  bool // a client has read it from its start
}

func newReplays() *replays { return &replays{sessions: map[string]*replay{}} }

// Open implements EventStore.
func (r *replays) Open(_ context.Context, session, stream string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.sessions[session]
	if p == nil {
		if stream != "" { // a session's first is "": this is a request that its end overtook, and nothing would close it
			return errEnded
		}
		p = &replay{streams: map[string]*replayed{}}
		r.sessions[session] = p
	}
	if p.streams[stream] != nil {
		return nil
	}
	if len(p.opened) >= maxStreams {
		// the stream of notices belongs to no call and stays
		oldest := slices.IndexFunc(p.opened, func(name string) bool { return name != "" })
		r.forgetLocked(p, p.opened[oldest])
	}
	p.streams[stream] = &replayed{}
	p.opened = append(p.opened, stream)
	if stream != "" {
		p.bytes, r.bytes = p.bytes+streamOverhead, r.bytes+streamOverhead
		r.boundLocked(p)
	}
	return nil
}

// Append implements EventStore.
func (r *replays) Append(_ context.Context, session, stream string, data []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.sessions[session]
	if p == nil || p.streams[stream] == nil {
		return errNotReplayed
	}
	s := p.streams[stream]
	s.events = append(s.events, data)
	p.order = append(p.order, stream)
	p.bytes, r.bytes = p.bytes+cost(data), r.bytes+cost(data)
	r.boundLocked(p)
	return nil
}

func cost(data []byte) int { return len(data) + eventOverhead }

// boundLocked makes room after p has grown. The caller holds mu.
func (r *replays) boundLocked(p *replay) {
	for p.bytes > maxReplayed {
		r.dropLocked(p)
	}
	for r.bytes > maxAllReplayed {
		var most *replay
		for _, q := range r.sessions {
			if most == nil || q.bytes > most.bytes {
				most = q
			}
		}
		r.dropLocked(most)
	}
}

// dropLocked forgets the oldest event of a session that has bytes, or its oldest call's stream if it has no events: as long
// as there are any, a stream without is kept, for its answer may be to come. The caller holds mu.
func (r *replays) dropLocked(p *replay) {
	if len(p.order) == 0 {
		r.forgetLocked(p, p.opened[slices.IndexFunc(p.opened, func(name string) bool { return name != "" })])
		return
	}
	s := p.streams[p.order[0]]
	p.order = p.order[1:]
	n := cost(s.events[0])
	s.events[0] = nil
	s.events = s.events[1:]
	s.first++
	p.bytes, r.bytes = p.bytes-n, r.bytes-n
}

// forgetLocked forgets a call's stream. The caller holds mu.
func (r *replays) forgetLocked(p *replay, stream string) {
	r.emptyLocked(p, stream)
	p.bytes, r.bytes = p.bytes-streamOverhead, r.bytes-streamOverhead
	delete(p.streams, stream)
	p.opened = slices.DeleteFunc(p.opened, func(name string) bool { return name == stream })
}

// emptyLocked forgets a stream's events. The caller holds mu.
func (r *replays) emptyLocked(p *replay, stream string) {
	s := p.streams[stream]
	for _, data := range s.events {
		p.bytes, r.bytes = p.bytes-cost(data), r.bytes-cost(data)
	}
	s.events = nil
	p.order = slices.DeleteFunc(p.order, func(name string) bool { return name == stream })
}

// After implements EventStore.
func (r *replays) After(_ context.Context, session, stream string, index int) iter.Seq2[[]byte, error] {
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

func (r *replays) after(session, stream string, index int) ([][]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.sessions[session]
	if p == nil || p.streams[stream] == nil {
		return nil, errNotReplayed
	}
	s := p.streams[stream]
	if stream == "" && index < 0 {
		// A client opens the stream of notices for the first time or again: the SDK numbers from 0. Events before the
		// first opening are still undelivered; those before a later one belonged to another stream.
		if s.begun {
			r.emptyLocked(p, stream)
		}
		s.first, s.begun = 0, true
	}
	from := index + 1 - s.first
	if from < 0 || from > len(s.events) { // dropped, or never sent
		return nil, errNotReplayed
	}
	return slices.Clone(s.events[from:]), nil
}

// SessionClosed implements EventStore.
func (r *replays) SessionClosed(_ context.Context, session string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.sessions[session]; p != nil {
		r.bytes -= p.bytes
		delete(r.sessions, session)
	}
	return nil
}
