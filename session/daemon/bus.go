//go:build unix

package daemon

import (
	"sync"

	"github.com/longterm-dev/longterm/session/api"
)

// listenerQueue is how many events a slow listener may be behind before it loses some
// (and is told how many).
const listenerQueue = 256

// bus hands events to those who listen. Publishing never blocks.
type Bus struct {
	mu     sync.Mutex
	seq    uint64
	set    map[*Listener]struct{}
	closed bool
}

// listener is one subscription. Its channel is closed when the daemon ends.
type Listener struct {
	c    chan api.Event
	lost uint64 // guarded by bus.mu
}

func (b *Bus) listen() *Listener {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := &Listener{c: make(chan api.Event, listenerQueue)}
	if b.closed {
		close(l.c)
		return l
	}
	if b.set == nil {
		b.set = map[*Listener]struct{}{}
	}
	b.set[l] = struct{}{}
	return l
}

func (b *Bus) leave(l *Listener) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.set, l)
}

func (b *Bus) publish(kind string, s *api.Session) { b.send(api.Event{Kind: kind, Session: s}) }

// publishJob tells that a job ended.
func (b *Bus) publishJob(j *api.Job, s *api.Session) {
	b.send(api.Event{Kind: "job", Session: s, Job: j})
}

// send gives an event its number and hands it on.
func (b *Bus) send(e api.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seq++
	e.Seq = b.seq
	for l := range b.set {
		if l.lost > 0 {
			select {
			case l.c <- api.Event{Seq: b.seq, Kind: "lost", Lost: l.lost}:
				l.lost = 0
			default:
				l.lost++
				continue
			}
		}
		select {
		case l.c <- e:
		default:
			l.lost++
		}
	}
}

// close ends all subscriptions.
func (b *Bus) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for l := range b.set {
		delete(b.set, l)
		close(l.c)
	}
}
