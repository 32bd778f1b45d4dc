package fairsched

import (
	"container/list"
	"fmt"
	"io"
	"sync"
	"time"
)

// Bounds of a listener's load. Each connection costs a goroutine, buffers and a descriptor; other requests of the same
// client queue behind each running request.
const (
	maxConnections = 16_384
	maxUnderWay    = 1024 // requests of one client
)

// refusePause delays each refusal: a client that retries in a loop must not cause more work than this. A waiting
// connection costs less than one that is closed and reopened.
const refusePause = 4 * time.Millisecond

// drainTime and drainSize bound what is read of a request that is refused, so that the answer is not lost with what was not read.
const (
	drainTime = 250 * time.Millisecond
	drainSize = 256 << 10
)

// Refusal returns an HTTP 503 response with the given body. It lets the client retry after a second.
func Refusal(contentType, body string) []byte {
	return fmt.Appendf(nil, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: %s\r\nContent-Length: %d\r\nRetry-After: 1\r\nConnection: close\r\n\r\n%s",
		contentType, len(body), body)
}

// TooMany is the body of a refusal, for users and models.
var TooMany = fmt.Sprintf("request rejected: too many connections, or %d requests of this client are running. "+
	"Retry in a second, use few connections, and combine several waits in one request", maxUnderWay)

// entry counts connections and requests, and refuses what is too much before anything of it is parsed.
type entry struct {
	refusal     []byte
	connections int // at once
	requests    int // running, of one client

	mu       sync.Mutex
	open     int            // connections
	underWay map[string]int // running requests by client
	idle     list.List      // of *reading, those without a request, the longest first
	refused  list.List      // of *reading, awaiting their refusal
	refusing bool           // the refusing timer runs
}

func newEntry(refusal []byte, descriptors uint64) *entry {
	return &entry{refusal: refusal, connections: int(min(maxConnections, descriptors/2)), requests: maxUnderWay, underWay: map[string]int{}}
}

// connState is what is known of a connection. The entry's mu guards it.
type connState struct {
	counts  bool   // as a request
	who     string // whose
	idle    *list.Element
	refused *list.Element
	refuseC chan struct{} // closed when the connection is to be refused
	closed  bool          // evicted to make room; its next request is rejected
	left    bool
}

// admit registers a new connection. If the limit is reached it evicts another one: a connection that awaits its
// refusal, else the one idle the longest.
func (e *entry) admit(r *reading) (full, ok bool) {
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

// begin starts a request on a connection, or waits until the connection is to be refused.
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
	s.refuseC = make(chan struct{})
	s.refused = e.refused.PushBack(r)
	if !e.refusing {
		e.refusing = true
		time.AfterFunc(refusePause, e.refuse)
	}
	e.mu.Unlock()
	select {
	case <-s.refuseC:
	case <-r.ctx.Done():
		return false
	}
	_ = r.SetDeadline(time.Now().Add(drainTime))
	if _, err := r.Conn.Write(e.refusal); err == nil && r.CloseWrite() == nil {
		_, _ = io.CopyN(io.Discard, r.Conn, drainSize)
	}
	return false
}

// refuse refuses the next connection and schedules the one after it.
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
	close(r.seat.refuseC)
}

// waits marks a connection as idle, waiting for client bytes. A connection whose next request arrived with the previous
// one is not idle.
func (e *entry) waits(r *reading) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := &r.seat; !s.counts && s.idle == nil && !s.closed && !s.left {
		s.idle = e.idle.PushBack(r)
	}
}

// goesOn starts a request that arrived together with the previous one and so is never refused.
func (e *entry) goesOn(r *reading) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := &r.seat; !s.counts && !s.left {
		s.counts = true
		e.underWay[s.who]++
	}
}

// listens stops counting a connection's request as running.
func (e *entry) listens(r *reading) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.doneLocked(r)
}

// done ends the running request of a connection, if any.
func (e *entry) done(r *reading) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.doneLocked(r)
	e.busyLocked(r)
}

// leave removes a closed connection. Repeated calls have no effect.
func (e *entry) leave(r *reading) {
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
