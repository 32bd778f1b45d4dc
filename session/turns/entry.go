package turns

import (
	"container/list"
	"fmt"
	"io"
	"sync"
	"time"
)

// Bounds of what is let in at a listener. Each connection is a goroutine, buffers and a descriptor; each request under way is
// one that others of the same client wait behind.
const (
	maxConnections = 16_384
	maxUnderWay    = 1024 // requests of one who asks
)

// Refusals are held back: whoever asks again at once, for ever, is to be no more work than this. Who waits for one is no work
// for anybody: a connection that is kept costs less than one that is closed and comes again.
const refusePause = 4 * time.Millisecond

// drainTime and drainSize bound what is read of a request that is refused, so that the answer is not lost with what was not read.
const (
	drainTime = 250 * time.Millisecond
	drainSize = 256 << 10
)

// Refusal is an answer of HTTP that says why nothing was done, and that it may be asked again in a second.
func Refusal(contentType, body string) []byte {
	return fmt.Appendf(nil, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: %s\r\nContent-Length: %d\r\nRetry-After: 1\r\nConnection: close\r\n\r\n%s",
		contentType, len(body), body)
}

// TooMany says why, for people and models.
var TooMany = fmt.Sprintf("there are too many connections, or %d requests of this client are under way, and nothing was done for this one. "+
	"Ask again in a second, on few connections, and wait for several things in one request", maxUnderWay)

// entry counts connections and requests, and refuses what is too much before anything of it is parsed.
type entry struct {
	refusal     []byte
	connections int // at once
	requests    int // under way, of one who asks

	mu       sync.Mutex
	open     int            // connections
	underWay map[string]int // requests, by who asks
	idle     list.List      // of *reading, those without a request, the longest first
	refused  list.List      // of *reading, those that are told so in turn
	refusing bool           // somebody is, after a pause
}

func newEntry(refusal []byte, descriptors uint64) *entry {
	return &entry{refusal: refusal, connections: int(min(maxConnections, descriptors/2)), requests: maxUnderWay, underWay: map[string]int{}}
}

// seat is what is known of a connection. The entry's mu guards it.
type seat struct {
	counts  bool   // as a request
	who     string // whose
	idle    *list.Element
	refused *list.Element
	told    chan struct{} // closed when it is to be refused
	closed  bool          // to make room: whatever it still asks, nothing is begun
	left    bool
}

// came has a connection come in, if there is a place for it or another one leaves for it: one that is refused anyhow, or else the
// one that was idle the longest.
func (e *entry) came(r *reading) (full, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if full = e.open >= e.connections; full {
		switch {
		case e.refused.Len() > 0:
			e.tellLocked()
		case e.idle.Len() > 0:
			other := e.idle.Remove(e.idle.Front()).(*reading)
			other.seat.idle, other.seat.closed = nil, true
			go other.Conn.Close() // its reader sees that, and leaves
		default:
			r.seat.left = true
			return true, false
		}
	}
	e.open++
	r.seat.idle = e.idle.PushBack(r)
	return full, true
}

// begin has a connection begin a request, or has it refused, once it is its turn for that.
func (e *entry) begin(r *reading, who string) bool {
	e.mu.Lock()
	s := &r.seat
	if ok := !s.closed; !ok || s.counts { // counts: more of the same
		e.mu.Unlock()
		return ok
	}
	e.busyLocked(r)
	if e.underWay[who] < e.requests {
		s.counts, s.who = true, who
		e.underWay[who]++
		e.mu.Unlock()
		return true
	}
	s.told = make(chan struct{})
	s.refused = e.refused.PushBack(r)
	if !e.refusing {
		e.refusing = true
		time.AfterFunc(refusePause, e.refuse)
	}
	e.mu.Unlock()
	select {
	case <-s.told:
	case <-r.ctx.Done():
		return false
	}
	_ = r.SetDeadline(time.Now().Add(drainTime))
	if _, err := r.Conn.Write(e.refusal); err == nil && r.CloseWrite() == nil {
		_, _ = io.CopyN(io.Discard, r.Conn, drainSize)
	}
	return false
}

// refuse has the next one be refused, and goes on after a pause.
func (e *entry) refuse() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.refused.Len() == 0 {
		e.refusing = false
		return
	}
	e.tellLocked()
	time.AfterFunc(refusePause, e.refuse)
}

func (e *entry) tellLocked() {
	r := e.refused.Remove(e.refused.Front()).(*reading)
	r.seat.refused = nil
	close(r.seat.told)
}

// waits says that a connection waits for bytes of the client. One whose next request came along with the one before does not, and
// is not idle.
func (e *entry) waits(r *reading) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := &r.seat; !s.counts && s.idle == nil && !s.closed && !s.left {
		s.idle = e.idle.PushBack(r)
	}
}

// goesOn has a connection begin a request that came along with the one before, and so was never refused.
func (e *entry) goesOn(r *reading) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := &r.seat; !s.counts && !s.left {
		s.counts = true
		e.underWay[s.who]++
	}
}

// listens counts a request of a connection no more.
func (e *entry) listens(r *reading) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.doneLocked(r)
}

// done is called when a connection has no request under way.
func (e *entry) done(r *reading) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.doneLocked(r)
	e.busyLocked(r)
}

// left is called when a connection is closed, once or more often.
func (e *entry) left(r *reading) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r.seat.left {
		return
	}
	r.seat.left = true
	e.open--
	e.doneLocked(r)
	e.busyLocked(r)
	if r.seat.refused != nil {
		e.refused.Remove(r.seat.refused)
		r.seat.refused = nil
	}
}

func (e *entry) doneLocked(r *reading) {
	if !r.seat.counts {
		return
	}
	r.seat.counts = false
	if e.underWay[r.seat.who]--; e.underWay[r.seat.who] == 0 {
		delete(e.underWay, r.seat.who)
	}
}

func (e *entry) busyLocked(r *reading) {
	if r.seat.idle != nil {
		e.idle.Remove(r.seat.idle)
		r.seat.idle = nil
	}
}
