package stream

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
	cond *sync.Cond // readers and writers wait on it

	// Send side: base ≤ next ≤ limit; sendBuf holds the bytes from base to the end of the written ones.
	sendBuf         []byte
	base            uint64        // everything before it is acknowledged
	next            uint64        // offset of the first byte that was not sent
	limit           uint64        // offset up to which the peer accepts data
	finished        bool          // the stream was closed for writing
	finOffset       uint64        // offset at which the stream ends
	retransmitDelay time.Duration // current delay of retransmission
	sentAt          time.Time     // when the oldest unacknowledged data was sent
	unroutable      int           // packets without a receiver
	peerAskedAt     uint64        // base when the peer last requested retransmission
	wasOpened       bool          // the peer has answered

	// Receive side: readBuf holds received data that was not read.
	readBuf             []byte
	received            uint64 // offset after readBuf
	sentLimit           uint64 // last limit sent to the peer
	sentReceived        uint64 // last value of received sent to the peer
	retransmitRequested bool   // retransmission from received was requested
	peerFinished        bool   // the peer writes nothing after received
	lastReceived        time.Time
	lastSent            time.Time // time of the last packet sent

	readBy, writeBy deadline
	err             error
	closed          bool

	opened, ended chan struct{} // closed when the peer answers; closed when the stream ends
}

func newStream(m *Mux, peer, id string, dialed bool) *Stream {
	now := time.Now()
	s := &Stream{m: m, peer: peer, id: id, dialed: dialed, sentLimit: Window, retransmitDelay: minRetransmit, lastReceived: now, lastSent: now, sentAt: now}
	s.cond = sync.NewCond(&s.mu)
	s.opened, s.ended = make(chan struct{}), make(chan struct{})
	wake := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.cond.Broadcast()
	}
	s.readBy.wake, s.writeBy.wake = wake, wake
	return s
}

// send sends a packet. A packet that is lost is sent again by the timer. The caller holds mu, which keeps packets in
// order.
func (s *Stream) send(p *packet) {
	s.lastSent = time.Now()
	_ = s.m.send(s.peer, s.id, p.encode())
}

// ack sends an acknowledgement, which may request retransmission.
func (s *Stream) ack(again bool) {
	s.sentLimit = max(s.sentLimit, s.received-uint64(len(s.readBuf))+Window)
	s.sentReceived = s.received
	s.send(&packet{kind: kindAck, offset: s.received, limit: s.sentLimit, retransmit: again})
}

// push sends data within the peer's limit. The caller holds mu.
func (s *Stream) push() {
	if !s.wasOpened || s.finished && s.finOffset != 0 && s.base == s.finOffset { // the other side has all, and the end
		return
	}
	written := s.base + uint64(len(s.sendBuf))
	for s.next < min(written, s.limit) {
		n := min(written, s.limit, s.next+chunk)
		if s.next == s.base {
			s.sentAt = time.Now()
		}
		s.send(&packet{kind: kindData, offset: s.next, data: s.sendBuf[s.next-s.base : n-s.base]})
		s.next = n
	}
	if s.finished && s.next == written && s.finOffset != written+1 {
		if s.next == s.base {
			s.sentAt = time.Now()
		}
		s.finOffset = written + 1 // as if the end took a byte
		s.send(&packet{kind: kindFin, offset: written})
	}
}

// pending reports whether sent data is unacknowledged. The caller holds mu.
func (s *Stream) pending() bool {
	return !s.wasOpened && s.dialed || s.next > s.base || s.finished && s.base < s.finOffset
}

// retransmit sends all unacknowledged data again.
func (s *Stream) retransmit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resend()
}

// resend sends unacknowledged data again. The caller holds mu.
func (s *Stream) resend() {
	if s.err != nil {
		return
	}
	s.sentAt = time.Now()
	if !s.wasOpened {
		if s.dialed {
			s.send(&packet{kind: kindOpen, limit: Window})
		}
		return
	}
	s.next, s.finOffset = s.base, 0
	s.push()
}

// deliver handles a packet from the peer.
func (s *Stream) deliver(p *packet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	s.lastReceived, s.unroutable = time.Now(), 0
	switch p.kind {
	case kindOpen:
		s.open(p.limit)
		s.ack(false)
	case kindAck:
		s.open(p.limit)
		s.handleAck(p)
	case kindData:
		s.handleData(p)
	case kindFin:
		if p.offset == s.received {
			s.peerFinished = true
			s.ackEnd()
		} else if p.offset > s.received {
			s.requestMissing()
		} else {
			s.ackEnd()
		}
	case kindReset:
		s.fail(errors.New(printable(p.data)), false)
	}
	s.cond.Broadcast()
}

// ackEnd acknowledges the end of the stream.
func (s *Stream) ackEnd() {
	if !s.peerFinished {
		s.ack(false)
		return
	}
	s.sentReceived = s.received
	s.send(&packet{kind: kindAck, offset: s.received + 1, limit: s.sentLimit})
}

// open handles the peer's answer, with its limit.
func (s *Stream) open(limit uint64) {
	if !s.wasOpened {
		s.wasOpened, s.retransmitDelay = true, minRetransmit
		close(s.opened)
	}
	if limit > s.limit {
		s.limit = limit
		s.push()
	}
}

// handleAck handles an acknowledgement.
func (s *Stream) handleAck(p *packet) {
	written := s.base + uint64(len(s.sendBuf))
	if s.finished && s.finOffset == written+1 && p.offset == written+1 { // all, and the end
		s.base, s.sendBuf = written+1, nil
		s.next = s.base
		s.dropIfDone()
		return
	}
	if p.offset > s.base && p.offset <= written {
		n := copy(s.sendBuf, s.sendBuf[p.offset-s.base:])
		s.sendBuf = s.sendBuf[:n]
		s.base, s.retransmitDelay, s.sentAt = p.offset, minRetransmit, time.Now()
		s.next = max(s.next, s.base)
		if len(s.sendBuf) == 0 {
			s.sendBuf = nil // idle streams hold nothing
		}
	}
	if p.retransmit && s.peerAskedAt != s.base+1 { // once for each place
		s.peerAskedAt = s.base + 1
		s.resend()
		return
	}
	s.push()
}

// dropIfDone drops a stream that both sides have closed. The caller holds mu.
func (s *Stream) dropIfDone() {
	if s.closed && s.base == s.finOffset && s.finished {
		s.fail(net.ErrClosed, false)
	}
}

// handleData handles data, or the end, from the peer.
func (s *Stream) handleData(p *packet) {
	end := p.offset + uint64(len(p.data))
	switch {
	case p.offset > s.received:
		s.requestMissing()
		return
	case end <= s.received || s.peerFinished: // had already: the ack was lost
		s.ack(false)
		return
	case end > s.sentLimit:
		s.fail(errors.New("the other side sent more than it may"), true)
		return
	}
	if s.closed { // the reader has left
		s.received = end
		s.fail(net.ErrClosed, true)
		return
	}
	s.readBuf = append(s.readBuf, p.data[s.received-p.offset:]...)
	s.received, s.retransmitRequested = end, false
	if s.received-s.sentReceived >= Window/4 {
		s.ack(false)
	}
}

// requestMissing requests retransmission of missing data, once per gap.
func (s *Stream) requestMissing() {
	if !s.retransmitRequested {
		s.retransmitRequested = true
		s.ack(true)
	}
}

// tick retransmits late data, sends pings and fails a dead stream.
func (s *Stream) tick(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	switch {
	case now.Sub(s.lastReceived) > DeadTime:
		s.fail(fmt.Errorf("%s was not heard of for %v", s.peer, DeadTime), true)
		return
	case s.pending() && now.Sub(s.sentAt) >= s.retransmitDelay:
		s.retransmitDelay = min(2*s.retransmitDelay, maxRetransmit)
		s.retransmitRequested = false
		s.resend()
	case s.received != s.sentReceived:
		s.ack(false)
	case now.Sub(s.lastSent) >= pingTime:
		if s.wasOpened {
			s.ack(false)
		}
	}
	if s.retransmitRequested && now.Sub(s.lastSent) >= minRetransmit {
		s.ack(true)
	}
}

// handleUnroutable fails an unopened stream at the second packet without a receiver. One alone may fall into a
// reconnect of the peer.
func (s *Stream) handleUnroutable() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unroutable++; s.err == nil && !s.wasOpened && s.unroutable >= 2 {
		s.fail(fmt.Errorf("%s: %w", s.peer, ErrNotConnected), false)
	}
}

// abort ends the stream at once. reset also sends a reset packet to the peer.
func (s *Stream) abort(why error, reset bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail(why, reset)
}

// fail ends the stream with an error. The caller holds mu.
func (s *Stream) fail(why error, reset bool) {
	if s.err != nil {
		return
	}
	s.err = why
	if reset {
		s.send(&packet{kind: kindReset, data: []byte(why.Error())})
	}
	close(s.ended)
	s.cond.Broadcast()
	go s.m.drop(s) // the Mux's lock comes before ours
}

// reason returns the error of an ended stream.
func (s *Stream) reason() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Read implements net.Conn.
func (s *Stream) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.readBuf) == 0 {
		switch {
		case s.closed:
			return 0, net.ErrClosed
		case s.peerFinished:
			return 0, io.EOF
		case s.err != nil:
			return 0, &net.OpError{Op: "read", Net: "fleet", Addr: Addr(s.peer), Err: s.err}
		case s.readBy.isPast():
			return 0, os.ErrDeadlineExceeded
		case len(b) == 0:
			return 0, nil
		}
		s.cond.Wait()
	}
	n := copy(b, s.readBuf)
	s.readBuf = s.readBuf[n:]
	if len(s.readBuf) == 0 {
		s.readBuf = nil
	}
	if s.received-uint64(len(s.readBuf))+Window-s.sentLimit >= Window/2 && s.err == nil {
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
		case s.writeBy.isPast():
			return n, os.ErrDeadlineExceeded
		}
		room := Window - len(s.sendBuf)
		if room == 0 {
			s.cond.Wait()
			continue
		}
		k := min(room, len(b))
		s.sendBuf = append(s.sendBuf, b[:k]...)
		n, b = n+k, b[k:]
		s.push()
	}
	return n, nil
}

// CloseWrite closes the stream for writing. Written data still arrives.
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

// Close implements net.Conn. Written data still arrives.
func (s *Stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed, s.finished = true, true
	s.readBuf = nil
	s.cond.Broadcast()
	if s.err == nil {
		s.push()
		s.dropIfDone()
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

// deadline is a time limit for reads or writes.
type deadline struct {
	at    time.Time
	timer *time.Timer
	wake  func() // wakes waiting readers or writers
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

func (d *deadline) isPast() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

// printable returns a message of the peer without characters that act on a terminal.
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
