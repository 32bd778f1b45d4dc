//go:build unix

// Package events hands what happens to sessions and jobs to those who listen. It knows no session:
// what it is given is what clients get.
//
// Publishing never blocks. Events have one order and one numbering; a listener who is behind by
// more than listenerQueue loses some, and is told how many, with the next that it has room for. The newest ones are
// kept: who comes again with the number of the last that it saw (Resume) is told what it missed.
package events

import (
	"slices"
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
	first  uint64      // number before the first event
	kept   []api.Event // the newest, at least keep of them once there were so many, without a gap
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

// keep is how many events are kept for those who come again.
const keep = 512

// Told is how many events were told, Listeners to how many clients they go.
func (b *Bus) Told() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seq - b.first
}

// Listeners is how many clients listen.
func (b *Bus) Listeners() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.set)
}

// From has events numbered after a number, before the first. Numbers that grow from daemon to daemon are never
// another's.
func (b *Bus) From(seq uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seq, b.first = seq, seq
}

// Begin subscribes as Listen does, and tells the number of the newest event before.
func (b *Bus) Begin() (l *Listener, seq uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.listen(), b.seq
}

// Resume subscribes as Listen does, for one that saw the events up to a number; missed are those after it. Where not
// all of them are kept any more, or the number was another daemon's, it is one that they are lost: whoever comes looks
// at everything anew. seq is the number of the newest event.
func (b *Bus) Resume(after uint64) (l *Listener, missed []api.Event, seq uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := uint64(len(b.kept)); after <= b.seq && b.seq-after <= n {
		return b.listen(), slices.Clone(b.kept[n-(b.seq-after):]), b.seq
	}
	gone := api.Event{Seq: b.seq, Kind: "lost"}
	if b.first <= after && after <= b.seq { // else nobody knows how many: numbers of two daemons are not counted together
		gone.Lost = b.seq - after
	}
	return b.listen(), []api.Event{gone}, b.seq
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
	if b.kept = append(b.kept, e); len(b.kept) == 2*keep {
		b.kept = append(make([]api.Event, 0, 2*keep), b.kept[keep:]...)
	}
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
