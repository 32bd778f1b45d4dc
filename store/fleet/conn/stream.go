package conn

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
	"unicode"
)

// Stream is one end of a stream of bytes. It implements net.Conn.
type Stream struct {
	m        *Mux
	peer, id string
	dialed   bool

	mu   sync.Mutex
	cond *sync.Cond // of readers and writers

	// Of what is sent: base ≤ next ≤ limit; out holds base up to what was written.
	out       []byte
	base      uint64 // the other side has all before
	next      uint64 // first byte that is not on its way
	limit     uint64 // credit
	finished  bool   // nothing more is written
	finAt     uint64
	wait      time.Duration // until what is on its way is sent again
	sentAt    time.Time     // of the oldest of that
	nobodies  int
	askedAt   uint64 // base when the other asked for it again
	wasOpened bool

	// Of what is received.
	in       []byte
	got      uint64 // offset after in
	told     uint64 // limit that was told
	ackedGot uint64 // got that was told
	asked    bool   // for what is missing at got
	end      bool   // the other side writes nothing more after got
	heard    time.Time
	spoke    time.Time

	readBy, writeBy deadline
	err             error
	closed          bool

	opened, over chan struct{}
}

func newStream(m *Mux, peer, id string, dialed bool) *Stream {
	now := time.Now()
	s := &Stream{m: m, peer: peer, id: id, dialed: dialed, told: Window, wait: firstAgain, heard: now, spoke: now, sentAt: now}
	s.cond = sync.NewCond(&s.mu)
	s.opened, s.over = make(chan struct{}), make(chan struct{})
	wake := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.cond.Broadcast()
	}
	s.readBy.wake, s.writeBy.wake = wake, wake
	return s
}

// put sends a packet. What does not go is sent again by the clock. The caller holds mu: packets go in order.
func (s *Stream) put(p *packet) {
	s.spoke = time.Now()
	_ = s.m.send(s.peer, s.id, p.encode())
}

func (s *Stream) ack(again bool) {
	s.told = max(s.told, s.got-uint64(len(s.in))+Window)
	s.ackedGot = s.got
	s.put(&packet{kind: kindAck, offset: s.got, limit: s.told, again: again})
}

// push sends what may be sent. The caller holds mu.
func (s *Stream) push() {
	if !s.wasOpened || s.finished && s.finAt != 0 && s.base == s.finAt { // the other side has all, and the end
		return
	}
	written := s.base + uint64(len(s.out))
	for s.next < min(written, s.limit) {
		n := min(written, s.limit, s.next+chunk)
		if s.next == s.base {
			s.sentAt = time.Now()
		}
		s.put(&packet{kind: kindData, offset: s.next, data: s.out[s.next-s.base : n-s.base]})
		s.next = n
	}
	if s.finished && s.next == written && s.finAt != written+1 {
		if s.next == s.base {
			s.sentAt = time.Now()
		}
		s.finAt = written + 1 // as if the end took a byte
		s.put(&packet{kind: kindFin, offset: written})
	}
}

// pending says that the other side has not all that was sent. The caller holds mu.
func (s *Stream) pending() bool {
	return !s.wasOpened && s.dialed || s.next > s.base || s.finished && s.base < s.finAt
}

// again sends what is on its way once more.
func (s *Stream) again() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resend()
}

func (s *Stream) resend() {
	if s.err != nil {
		return
	}
	s.sentAt = time.Now()
	if !s.wasOpened {
		if s.dialed {
			s.put(&packet{kind: kindOpen, limit: Window})
		}
		return
	}
	s.next, s.finAt = s.base, 0
	s.push()
}

// deliver takes a packet.
func (s *Stream) deliver(p *packet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	s.heard, s.nobodies = time.Now(), 0
	switch p.kind {
	case kindOpen:
		s.open(p.limit)
		s.ack(false)
	case kindAck:
		s.open(p.limit)
		s.acked(p)
	case kindData:
		s.take(p)
	case kindFin:
		if p.offset == s.got {
			s.end = true
			s.ackEnd()
		} else if p.offset > s.got {
			s.miss()
		} else {
			s.ackEnd()
		}
	case kindReset:
		s.fail(errors.New(printable(p.data)), false)
	}
	s.cond.Broadcast()
}

func (s *Stream) ackEnd() {
	if !s.end {
		s.ack(false)
		return
	}
	s.ackedGot = s.got
	s.put(&packet{kind: kindAck, offset: s.got + 1, limit: s.told})
}

func (s *Stream) open(limit uint64) {
	if !s.wasOpened {
		s.wasOpened, s.wait = true, firstAgain
		close(s.opened)
	}
	if limit > s.limit {
		s.limit = limit
		s.push()
	}
}

func (s *Stream) acked(p *packet) {
	written := s.base + uint64(len(s.out))
	if s.finished && s.finAt == written+1 && p.offset == written+1 { // all, and the end
		s.base, s.out = written+1, nil
		s.next = s.base
		s.settle()
		return
	}
	if p.offset > s.base && p.offset <= written {
		n := copy(s.out, s.out[p.offset-s.base:])
		s.out = s.out[:n]
		s.base, s.wait, s.sentAt = p.offset, firstAgain, time.Now()
		s.next = max(s.next, s.base)
		if len(s.out) == 0 {
			s.out = nil // idle streams hold nothing
		}
	}
	if p.again && s.askedAt != s.base+1 { // once for each place
		s.askedAt = s.base + 1
		s.resend()
		return
	}
	s.push()
}

// settle drops a stream of which both sides are done. The caller holds mu.
func (s *Stream) settle() {
	if s.closed && s.base == s.finAt && s.finished {
		s.fail(net.ErrClosed, false)
	}
}

func (s *Stream) take(p *packet) {
	end := p.offset + uint64(len(p.data))
	switch {
	case p.offset > s.got:
		s.miss()
		return
	case end <= s.got || s.end: // had already: the ack was lost
		s.ack(false)
		return
	case end > s.told:
		s.fail(errors.New("the other side sent more than it may"), true)
		return
	}
	if s.closed { // nobody reads any more
		s.got = end
		s.fail(net.ErrClosed, true)
		return
	}
	s.in = append(s.in, p.data[s.got-p.offset:]...)
	s.got, s.asked = end, false
	if s.got-s.ackedGot >= Window/4 {
		s.ack(false)
	}
}

// miss asks for what is missing, once.
func (s *Stream) miss() {
	if !s.asked {
		s.asked = true
		s.ack(true)
	}
}

// tick looks after what was not acknowledged, and after signs of life.
func (s *Stream) tick(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	switch {
	case now.Sub(s.heard) > DeadTime:
		s.fail(fmt.Errorf("%s was not heard of for %v", s.peer, DeadTime), true)
		return
	case s.pending() && now.Sub(s.sentAt) >= s.wait:
		s.wait = min(2*s.wait, lastAgain)
		s.asked = false
		s.resend()
	case s.got != s.ackedGot:
		s.ack(false)
	case now.Sub(s.spoke) >= pingTime:
		if s.wasOpened {
			s.ack(false)
		}
	}
	if s.asked && now.Sub(s.spoke) >= firstAgain {
		s.ack(true)
	}
}

// nobody counts packets that reached nobody: a member that reconnects is away for a moment.
func (s *Stream) nobody() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.nobodies++; s.err == nil && !s.wasOpened && s.nobodies >= 2 {
		s.fail(fmt.Errorf("%s: %w", s.peer, ErrNobody), false)
	}
}

// abort ends the stream at once.
func (s *Stream) abort(why error, tell bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail(why, tell)
}

func (s *Stream) fail(why error, tell bool) {
	if s.err != nil {
		return
	}
	s.err = why
	if tell {
		s.put(&packet{kind: kindReset, data: []byte(why.Error())})
	}
	close(s.over)
	s.cond.Broadcast()
	go s.m.drop(s) // the Mux's lock comes before ours
}

func (s *Stream) reason() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Read implements net.Conn.
func (s *Stream) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.in) == 0 {
		switch {
		case s.closed:
			return 0, net.ErrClosed
		case s.end:
			return 0, io.EOF
		case s.err != nil:
			return 0, &net.OpError{Op: "read", Net: "fleet", Addr: Addr(s.peer), Err: s.err}
		case s.readBy.passed():
			return 0, os.ErrDeadlineExceeded
		case len(b) == 0:
			return 0, nil
		}
		s.cond.Wait()
	}
	n := copy(b, s.in)
	s.in = s.in[n:]
	if len(s.in) == 0 {
		s.in = nil
	}
	if s.got-uint64(len(s.in))+Window-s.told >= Window/2 && s.err == nil {
		s.ack(false)
	}
	return n, nil
}

// Write implements net.Conn.
func (s *Stream) Write(b []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(b) > 0 {
		switch {
		case s.closed || s.finished:
			return n, net.ErrClosed
		case s.err != nil:
			return n, &net.OpError{Op: "write", Net: "fleet", Addr: Addr(s.peer), Err: s.err}
		case s.writeBy.passed():
			return n, os.ErrDeadlineExceeded
		}
		room := Window - len(s.out)
		if room == 0 {
			s.cond.Wait()
			continue
		}
		k := min(room, len(b))
		s.out = append(s.out, b[:k]...)
		n, b = n+k, b[k:]
		s.push()
	}
	return n, nil
}

// CloseWrite says that nothing more is written; what was written arrives.
func (s *Stream) CloseWrite() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	s.finished = true
	s.push()
	return nil
}

// Close implements net.Conn. What was written arrives all the same.
func (s *Stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed, s.finished = true, true
	s.in = nil
	s.cond.Broadcast()
	if s.err == nil {
		s.push()
		s.settle()
	}
	return nil
}

// LocalAddr implements net.Conn.
func (s *Stream) LocalAddr() net.Addr { return Addr(s.m.name) }

// RemoteAddr implements net.Conn: the name of the other member.
func (s *Stream) RemoteAddr() net.Addr { return Addr(s.peer) }

// SetDeadline implements net.Conn.
func (s *Stream) SetDeadline(t time.Time) error {
	return errors.Join(s.SetReadDeadline(t), s.SetWriteDeadline(t))
}

// SetReadDeadline implements net.Conn.
func (s *Stream) SetReadDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readBy.set(t)
	return nil
}

// SetWriteDeadline implements net.Conn.
func (s *Stream) SetWriteDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writeBy.set(t)
	return nil
}

// deadline is a time by which something has to be done.
type deadline struct {
	at    time.Time
	timer *time.Timer
	wake  func()
}

func (d *deadline) set(t time.Time) {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	d.at = t
	if t.IsZero() {
		return
	}
	d.timer = time.AfterFunc(max(0, time.Until(t)), d.wake)
}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

// printable is what another member says, without what would act on a terminal.
func printable(b []byte) string {
	var out []rune
	for _, r := range string(b) {
		if !unicode.IsPrint(r) {
			r = '?'
		}
		out = append(out, r)
	}
	if len(out) == 0 {
		return "the other side ended the stream"
	}
	return string(out)
}
