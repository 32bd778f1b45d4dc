// Package stream implements a reliable ordered stream of bytes between two members, a net.Conn over core NATS. Messages
// may be lost, duplicated or late.
//
// A Mux has all streams of one member. The subscription's owner passes received packets to Deliver, which never blocks:
// a stream accepts only as much as it granted credit for. Each side keeps sent data until it is acknowledged. It
// retransmits (go back n) after a timeout or a request, so a reconnect or another server loses nothing. A stream that
// receives nothing for DeadTime fails.
//
// One goroutine of the Mux runs the timers of all streams. It ends with the last stream.
package stream

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Transport sends a packet to a stream of a member. A packet that cannot be sent may be dropped: the stream
// retransmits.
type Transport func(to, id string, packet []byte) error

// Timers of streams.
const (
	tick          = 50 * time.Millisecond
	minRetransmit = 300 * time.Millisecond // delay of the first retransmission; doubles
	maxRetransmit = 4 * time.Second        // largest delay of a retransmission
	pingTime      = 10 * time.Second
	// DeadTime is how long a stream may receive nothing before it fails.
	DeadTime = 45 * time.Second
)

// Window is the most that one side may send before the other has read it, in bytes; chunk is the most in one message.
const (
	Window = 512 << 10
	chunk  = 32 << 10
)

// maxStreams and maxBacklog limit the streams that other members can open here.
const (
	maxStreams = 8192
	maxBacklog = 512
)

// Mux holds the streams of one member.
type Mux struct {
	name string
	send Transport

	mu      sync.Mutex
	streams map[key]*Stream
	backlog chan *Stream // streams that Accept has not returned yet
	ticking bool         // the timer goroutine runs
	closed  bool
	done    chan struct{}
}

// key identifies a stream.
type key struct{ peer, id string }

// New returns the Mux of a member.
func New(name string, send Transport) *Mux {
	return &Mux{name: name, send: send, streams: map[key]*Stream{}, backlog: make(chan *Stream, maxBacklog), done: make(chan struct{})}
}

// ErrNotConnected reports that no member of that name is connected.
var ErrNotConnected = errors.New("no host of this name is connected")

// Dial opens a stream to a member and waits until it answers.
func (m *Mux) Dial(ctx context.Context, to string) (*Stream, error) {
	id := make([]byte, 12)
	_, _ = rand.Read(id)
	s := newStream(m, to, hex.EncodeToString(id), true)
	if err := m.add(s); err != nil {
		return nil, err
	}
	s.retransmit()
	select {
	case <-s.opened:
	case <-s.ended:
		return nil, s.reason()
	case <-ctx.Done():
		s.abort(ctx.Err(), true)
		return nil, ctx.Err()
	}
	return s, nil
}

// add registers a stream.
func (m *Mux) add(s *Stream) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return net.ErrClosed
	case len(m.streams) >= maxStreams:
		return fmt.Errorf("there are %d streams, which is the most", maxStreams)
	}
	m.streams[key{s.peer, s.id}] = s
	if !m.ticking {
		m.ticking = true
		go m.runTimers()
	}
	return nil
}

// drop unregisters a stream.
func (m *Mux) drop(s *Stream) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.streams[key{s.peer, s.id}] == s {
		delete(m.streams, key{s.peer, s.id})
	}
}

// runTimers runs the streams' timers. It ends with the last stream.
func (m *Mux) runTimers() {
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-m.done:
			return
		}
		m.mu.Lock()
		if len(m.streams) == 0 {
			m.ticking = false
			m.mu.Unlock()
			return
		}
		all := make([]*Stream, 0, len(m.streams))
		for _, s := range m.streams {
			all = append(all, s)
		}
		m.mu.Unlock()
		now := time.Now()
		for _, s := range all {
			s.tick(now)
		}
	}
}

// Deliver handles a packet received from a member. It does not block.
func (m *Mux) Deliver(from, id string, b []byte) {
	p, err := decode(b)
	if err != nil {
		m.refuse(from, id, err)
		return
	}
	k := key{from, id}
	m.mu.Lock()
	s := m.streams[k]
	closed := m.closed
	m.mu.Unlock()
	if s == nil {
		if p.kind != kindOpen || closed {
			if p.kind != kindReset {
				m.refuse(from, id, errors.New("stream closed"))
			}
			return
		}
		s = newStream(m, from, id, false)
		if err := m.add(s); err != nil {
			m.refuse(from, id, err)
			return
		}
		select {
		case m.backlog <- s:
		default:
			s.abort(errors.New("too many streams wait to be taken"), true)
			return
		}
	}
	s.deliver(&p)
}

// HandleUnroutable records that a packet of a stream had no receiver.
func (m *Mux) HandleUnroutable(to, id string) {
	m.mu.Lock()
	s := m.streams[key{to, id}]
	m.mu.Unlock()
	if s != nil {
		s.handleUnroutable()
	}
}

// refuse rejects a stream that another member opens.
func (m *Mux) refuse(to, id string, err error) {
	_ = m.send(to, id, (&packet{kind: kindReset, data: []byte(err.Error())}).encode())
}

// FailPeer fails all streams with a member.
func (m *Mux) FailPeer(peer string, why error) {
	for _, s := range m.all() {
		if s.peer == peer {
			s.abort(why, true)
		}
	}
}

// RetransmitAll retransmits everything unacknowledged.
func (m *Mux) RetransmitAll() {
	for _, s := range m.all() {
		s.retransmit()
	}
}

// all returns all streams.
func (m *Mux) all() []*Stream {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make([]*Stream, 0, len(m.streams))
	for _, s := range m.streams {
		all = append(all, s)
	}
	return all
}

// Accept implements net.Listener.
func (m *Mux) Accept() (net.Conn, error) {
	select {
	case s := <-m.backlog:
		return s, nil
	case <-m.done:
		return nil, net.ErrClosed
	}
}

// Close ends all streams.
func (m *Mux) Close() error {
	m.mu.Lock()
	was := m.closed
	m.closed = true
	m.mu.Unlock()
	if was {
		return nil
	}
	close(m.done)
	for _, s := range m.all() {
		s.abort(net.ErrClosed, true)
	}
	return nil
}

// Addr implements net.Listener.
func (m *Mux) Addr() net.Addr { return Addr(m.name) }

// Addr is a member's name as an address.
type Addr string

// Network implements net.Addr.
func (Addr) Network() string  { return "fleet" }
func (a Addr) String() string { return string(a) }
