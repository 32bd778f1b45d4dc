//go:build unix

// Package events hands what happens to sessions and jobs to those who listen. It knows no session:
// what it is given is what clients get.
//
// Publishing never blocks. Events have one order and one numbering; a listener who is behind by
// more than ListenerQueue loses some, and is told how many, with the next that it has room for.
package events

import (
	"sync"

	"github.com/longterm-dev/longterm/session/api"
)

// listenerQueue is how many events a slow listener may be behind before it loses some
// (and is told how many).
const listenerQueue = 256

// Bus hands events to those who listen. Publishing never blocks.
type Bus struct {
	mu     sync.Mutex
	seq    uint64
	set    map[*Listener]struct{}
	closed bool
}

// Listener is one subscription. Its channel is closed when the daemon ends.
type Listener struct {
	C    chan api.Event
	lost uint64 // guarded by bus.mu
}

// Listen subscribes from the next event on; after the end the channel is closed.
func (b *Bus) Listen() *Listener {
	b.mu.Lock()
	defer b.mu.Unlock()
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

// Leave ends a subscription.
func (b *Bus) Leave(l *Listener) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.set, l)
}

// Publish tells of a session; nil: of none.
func (b *Bus) Publish(kind string, s *api.Session) { b.Send(api.Event{Kind: kind, Session: s}) }

// PublishJob tells that a job ended.
func (b *Bus) PublishJob(j *api.Job, s *api.Session) {
	b.Send(api.Event{Kind: "job", Session: s, Job: j})
}

// PublishApproval tells of an approval that was asked for, answered or is gone.
func (b *Bus) PublishApproval(kind string, a *api.Approval, s *api.Session) {
	b.Send(api.Event{Kind: kind, Session: s, Approval: a})
}

// Send gives an event its number and hands it on.
func (b *Bus) Send(e api.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seq++
	e.Seq = b.seq
	for l := range b.set {
		if l.lost > 0 {
			select {
			case l.C <- api.Event{Seq: b.seq, Kind: "lost", Lost: l.lost}:
				l.lost = 0
			default:
				l.lost++
				continue
			}
		}
		select {
		case l.C <- e:
		default:
			l.lost++
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
