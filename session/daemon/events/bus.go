//go:build unix

// Package events delivers events of sessions and jobs to listeners. It does not interpret them: clients receive what
// the daemon publishes.
//
// Publishing never blocks. All events share one order and one numbering. A listener that falls behind by more than
// listenerQueue loses events; the next event that fits is preceded by one that counts them. The bus keeps the newest
// events, so a client that reconnects with the number of its last event (Resume) receives those it missed.
package events

import (
	"slices"
	"sync"

	"github.com/longterm-dev/longterm/session/api"
)

// listenerQueue is the number of events that may wait for a slow listener. Later ones are dropped and counted.
const listenerQueue = 256

// Bus publishes events to listeners. Publishing never blocks.
type Bus struct {
	mu     sync.Mutex
	seq    uint64
	first  uint64      // number before the first event
	recent []api.Event // the newest events, without a gap; at least keptEvents of them once that many were published
	set    map[*Listener]struct{}
	closed bool
}

// Listener is one subscription. Its channel is closed when the daemon ends.
type Listener struct {
	C       chan api.Event
	dropped uint64 // events dropped because the listener is slow; guarded by Bus.mu
}

// Listen subscribes from the next event on; after the end the channel is closed.
func (b *Bus) Listen() *Listener {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.listen()
}

// listen subscribes. The caller holds mu.
func (b *Bus) listen() *Listener {
	l := &Listener{C: make(chan api.Event, listenerQueue)}
	if b.closed {
		close(l.C)
		return l
	}
	if b.set == nil {
		b.set = map[*Listener]struct{}{}
	}
	b.set[l] = struct{}{}
	return l
}

// keptEvents is the number of events kept for clients that reconnect.
const keptEvents = 512

// PublishedCount returns the number of events published since the daemon started.
func (b *Bus) PublishedCount() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seq - b.first
}

// Listeners returns the number of listening clients.
func (b *Bus) Listeners() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.set)
}

// StartAfter sets the number before that of the first event. Numbers grow from daemon to daemon, so two daemons never use the
// same one.
func (b *Bus) StartAfter(seq uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seq, b.first = seq, seq
}

// ListenWithSeq subscribes as Listen does and returns the number of the newest event so far.
func (b *Bus) ListenWithSeq() (l *Listener, seq uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.listen(), b.seq
}

// Resume subscribes a listener that received the events up to number after. missed holds the later ones. If the bus no
// longer keeps all of them, or the number belongs to another daemon, missed is a single "lost" event and the client has
// to read the state again. seq is the number of the newest event.
func (b *Bus) Resume(after uint64) (l *Listener, missed []api.Event, seq uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := uint64(len(b.recent)); after <= b.seq && b.seq-after <= n {
		return b.listen(), slices.Clone(b.recent[n-(b.seq-after):]), b.seq
	}
	lost := api.Event{Seq: b.seq, Kind: "lost"}
	// otherwise the count is unknown: the numbers of two daemons are not comparable
	if b.first <= after && after <= b.seq {
		lost.Lost = b.seq - after
	}
	return b.listen(), []api.Event{lost}, b.seq
}

// Unsubscribe removes a subscription.
func (b *Bus) Unsubscribe(l *Listener) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.set, l)
}

// Publish publishes an event of a session, or of none if s is nil.
func (b *Bus) Publish(kind string, s *api.Session) { b.Send(api.Event{Kind: kind, Session: s}) }

// PublishJob publishes the end of a job.
func (b *Bus) PublishJob(j *api.Job, s *api.Session) {
	b.Send(api.Event{Kind: "job", Session: s, Job: j})
}

// PublishApproval publishes that an approval was requested, answered or removed.
func (b *Bus) PublishApproval(kind string, a *api.Approval, s *api.Session) {
	b.Send(api.Event{Kind: kind, Session: s, Approval: a})
}

// Send numbers an event and passes it to the listeners.
func (b *Bus) Send(e api.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seq++
	e.Seq = b.seq
	if b.recent = append(b.recent, e); len(b.recent) == 2*keptEvents {
		b.recent = append(make([]api.Event, 0, 2*keptEvents), b.recent[keptEvents:]...)
	}
	for l := range b.set {
		if l.dropped > 0 {
			select {
			case l.C <- api.Event{Seq: b.seq, Kind: "lost", Lost: l.dropped}:
				l.dropped = 0
			default:
				l.dropped++
				continue
			}
		}
		select {
		case l.C <- e:
		default:
			l.dropped++
		}
	}
}

// Close ends all subscriptions.
func (b *Bus) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for l := range b.set {
		delete(b.set, l)
		close(l.C)
	}
}
