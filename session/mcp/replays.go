//go:build unix

package mcp

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
)

// Bounds of what is kept for clients of the revisions with sessions, which may lose a stream and take it up again
// (Last-Event-ID): of one session of the protocol, and of all.
const (
	maxReplayed     = 1 << 20
	maxStreams      = 512 // each call is one
	maxAllReplayed  = 32 << 20
	replayedBesides = 64  // what an event costs besides its bytes
	streamBesides   = 256 // what a call's stream costs besides its events
)

var errEnded = errors.New("the session has ended; begin a new one")

var errNotReplayed = errors.New("the events behind this one are not kept any more; ask again for what is missing: a job and a session are read by their ids")

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
	begun  bool // a client has read it from its begin
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
		oldest := slices.IndexFunc(p.opened, func(name string) bool { return name != "" }) // that one is no call's, and stays
		r.forgetLocked(p, p.opened[oldest])
	}
	p.streams[stream] = &replayed{}
	p.opened = append(p.opened, stream)
	if stream != "" {
		p.bytes, r.bytes = p.bytes+streamBesides, r.bytes+streamBesides
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

func cost(data []byte) int { return len(data) + replayedBesides }

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
	p.bytes, r.bytes = p.bytes-streamBesides, r.bytes-streamBesides
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
		// A client begins the stream of notices, or begins it anew: the SDK numbers from 0 again. What came before the first
		// begin nobody has had yet; what came before a later one was another stream's.
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
