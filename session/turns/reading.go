package turns

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// Listen has the requests that come in at a listener parsed in turn: those on connections that are new, and those on
// connections that had some answered. server is one that does not serve yet. of must be quick, and whoever asks can say what
// they like. A handler goes on in the slot that its request was parsed in, if it calls Taken.
//
// Who has too many requests under way, and whoever comes when there are too many connections, is answered with refusal, a whole
// answer of HTTP, after which the connection is closed. Connections have half of the descriptors that the process may open at
// most.
func Listen(server *http.Server, l net.Listener, of Of, refusal []byte, descriptors uint64) net.Listener {
	server.ConnState = func(c net.Conn, s http.ConnState) {
		if r, ok := c.(*reading); ok {
			r.changed(s)
		}
	}
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, readingKey{}, c)
	}
	return &listener{Listener: l, of: of, entry: newEntry(refusal, descriptors)}
}

// Of tells from the first bytes of a request which turns it takes, in which of few lanes, and there in which line. who is whose
// requests under way are counted together.
type Of func(request []byte) (in *Turns, who, lane, line string)

type readingKey struct{}

// Taken is the slot in which a request that came in by Listen was parsed, for its handler, which ends it; nil: there is none,
// and one has to be begun.
func Taken(ctx context.Context) *Slot {
	r, ok := ctx.Value(readingKey{}).(*reading)
	if !ok {
		return nil
	}
	return r.slot.Swap(nil)
}

// Listens says of a request that came in by Listen that from now on it waits for something to happen, for as long as its client
// listens. It is not one of those under way any more: nobody waits behind it, and a client may have as many as connections.
func Listens(ctx context.Context) {
	if r, ok := ctx.Value(readingKey{}).(*reading); ok {
		r.entry.listens(r)
	}
}

type listener struct {
	net.Listener
	of    Of
	entry *entry
	pace  pace // of the one goroutine that accepts
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		l.pace.step()
		ctx, cancel := context.WithCancel(context.Background())
		r := &reading{Conn: c, of: l.of, entry: l.entry, ctx: ctx, cancel: cancel}
		full, ok := l.entry.came(r)
		if full { // those that are closed come again
			l.pace.step()
			l.pace.step()
			l.pace.step()
		}
		if ok {
			return r, nil
		}
		_ = c.SetWriteDeadline(time.Now().Add(acceptPause)) // a new connection takes as much at once
		_, _ = c.Write(l.entry.refusal)
		_ = r.Close()
	}
}

// Connections are taken in a few at a time: each that is made costs a goroutine, buffers and some ten calls of the system, and
// thousands that are made at once would have all else wait until the last of them stands. Meanwhile the kernel keeps them.
const (
	acceptedAtOnce = 16
	acceptPause    = time.Millisecond
)

// pace keeps what is done again and again to acceptedAtOnce times in acceptPause.
type pace struct {
	since time.Time
	done  int
}

func (p *pace) step() {
	now := time.Now()
	if now.Sub(p.since) >= acceptPause {
		p.since, p.done = now, 0
	}
	if p.done++; p.done > acceptedAtOnce {
		time.Sleep(acceptPause - now.Sub(p.since))
		p.since, p.done = time.Now(), 1
	}
}

// reading is a connection whose next request is parsed in a slot. The server reads it in one goroutine, up to where the
// handler begins; what it reads for the handler needs none, nor does the single byte by which it sees that a client left.
// A slot that the handler does not take is given back when the next request is waited for.
type reading struct {
	net.Conn
	of     Of
	entry  *entry
	seat   seat
	ctx    context.Context // until it is closed
	cancel context.CancelFunc
	begun  atomic.Bool // the handler has begun
	had    bool        // requests before
	slot   atomic.Pointer[Slot]
}

// Read implements net.Conn.
func (r *reading) Read(p []byte) (int, error) {
	if r.begun.Load() || len(p) <= 1 {
		return r.Conn.Read(p)
	}
	r.give()
	r.entry.waits(r)
	n, err := r.Conn.Read(p)
	if n == 0 || err != nil {
		return n, err
	}
	in, who, lane, line := r.of(p[:n])
	if !r.entry.begin(r, who) {
		return 0, io.EOF
	}
	kind := "\x00new\x00"
	if r.had {
		kind = "\x00had\x00"
	}
	if s, err := in.Begin(r.ctx, kind+lane, line); err == nil {
		r.slot.Store(s)
	}
	return n, nil
}

func (r *reading) give() {
	if s := r.slot.Swap(nil); s != nil {
		s.End()
	}
}

// changed is told of the states that the server sees a connection in.
func (r *reading) changed(s http.ConnState) {
	switch s {
	case http.StateActive:
		r.begun.Store(true)
		r.entry.goesOn(r)
	case http.StateIdle:
		r.give()
		r.entry.done(r)
		r.had = true
		r.begun.Store(false)
	case http.StateClosed, http.StateHijacked:
		r.begun.Store(true)
		r.cancel()
		r.give()
		r.entry.done(r)
	}
}

// Close implements net.Conn; who was given the connection calls it, too.
func (r *reading) Close() error {
	r.cancel()
	r.entry.left(r)
	return r.Conn.Close()
}

// CloseWrite is for what is upgraded, as the connection itself has it.
func (r *reading) CloseWrite() error {
	if c, ok := r.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return nil
}

// Header is the value of a header in the first bytes of a request; empty: it is not among them.
func Header(request []byte, name string) string {
	name += ":"
	i := bytes.Index(request, []byte(name))
	if i < 0 {
		i = bytes.Index(request, []byte(strings.ToLower(name)))
	}
	if i < 0 {
		return ""
	}
	value, _, _ := bytes.Cut(request[i+len(name):], []byte("\r\n"))
	return string(bytes.TrimSpace(value))
}
