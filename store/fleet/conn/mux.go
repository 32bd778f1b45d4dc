// Package conn is a reliable ordered stream of bytes between two members, over messages that may be lost, doubled or
// come late: a net.Conn over core NATS.
//
// A Mux has all streams of one member. What it receives is handed to Deliver by whoever has the subscription, which is
// never held up: a stream takes no more than it has given credit for. Each side keeps what it sent until the other has it,
// and sends it again when that is not said in time, or when the other asks for it (go back n): a connection that broke off
// and came back, or another server, loses nothing. A stream that hears nothing for DeadTime is over.
//
// One goroutine of the Mux looks after the times of all streams, and only while there are any.
package conn

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

// Transport sends a packet to a stream of a member; one that cannot be sent now is sent again later.
type Transport func(to, id string, packet []byte) error

// Times of streams.
const (
	tick       = 50 * time.Millisecond
	firstAgain = 300 * time.Millisecond // until what was not acknowledged is sent again; doubles
	lastAgain  = 4 * time.Second
	pingTime   = 10 * time.Second
	// DeadTime is how long a stream waits for a sign of the other side.
	DeadTime = 45 * time.Second
)

// Window is how much one side may send before the other has read it, in bytes; chunk is the most in one message.
const (
	Window = 512 << 10
	chunk  = 32 << 10
)

// maxStreams and maxBacklog bound what others can have here.
const (
	maxStreams = 8192
	maxBacklog = 512
)

// Mux has the streams of one member.
type Mux struct {
	name string
	send Transport

	mu      sync.Mutex
	streams map[key]*Stream
	backlog chan *Stream
	ticking bool
	closed  bool
	done    chan struct{}
}

type key struct{ peer, id string }

// New makes a Mux of a member.
func New(name string, send Transport) *Mux {
	return &Mux{name: name, send: send, streams: map[key]*Stream{}, backlog: make(chan *Stream, maxBacklog), done: make(chan struct{})}
}

// ErrNobody says that no member of the name is connected.
var ErrNobody = errors.New("no host of this name is connected")

// Dial opens a stream to a member and waits until it answers.
func (m *Mux) Dial(ctx context.Context, to string) (*Stream, error) {
	id := make([]byte, 12)
	_, _ = rand.Read(id)
	s := newStream(m, to, hex.EncodeToString(id), true)
	if err := m.add(s); err != nil {
		return nil, err
	}
	s.again()
	select {
	case <-s.opened:
	case <-s.over:
		return nil, s.reason()
	case <-ctx.Done():
		s.abort(ctx.Err(), true)
		return nil, ctx.Err()
	}
	return s, nil
}

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
		go m.ticks()
	}
	return nil
}

func (m *Mux) drop(s *Stream) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.streams[key{s.peer, s.id}] == s {
		delete(m.streams, key{s.peer, s.id})
	}
}

// ticks ends when there are no streams any more.
func (m *Mux) ticks() {
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

// Deliver takes a packet that came from a member.
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
				m.refuse(from, id, errors.New("there is no such stream any more"))
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

// Nobody says that a packet of a stream reached nobody.
func (m *Mux) Nobody(to, id string) {
	m.mu.Lock()
	s := m.streams[key{to, id}]
	m.mu.Unlock()
	if s != nil {
		s.nobody()
	}
}

func (m *Mux) refuse(to, id string, err error) {
	_ = m.send(to, id, (&packet{kind: kindReset, data: []byte(err.Error())}).encode())
}

// EndOf ends all streams with a member.
func (m *Mux) EndOf(peer string, why error) {
	for _, s := range m.all() {
		if s.peer == peer {
			s.abort(why, true)
		}
	}
}

// Reconnected has everything sent again that was not acknowledged.
func (m *Mux) Reconnected() {
	for _, s := range m.all() {
		s.again()
	}
}

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
