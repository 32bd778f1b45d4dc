package fairsched

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

// Listen wraps l so that requests are parsed in turn, on new connections and on those with answered requests. server
// must not serve yet. of must be fast; its input is untrusted. A handler continues in the slot that its request was
// parsed in if it calls SlotOf.
//
// A client with too many running requests, or a connection beyond the limit, receives refusal, a whole HTTP response;
// then the connection closes. Connections use at most half of the descriptors that the process may open.
func Listen(server *http.Server, l net.Listener, of Of, refusal []byte, descriptors uint64) net.Listener {
	server.ConnState = func(c net.Conn, s http.ConnState) {
		if r, ok := c.(*reading); ok {
			r.onState(s)
		}
	}
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, readingKey{}, c)
	}
	return &listener{Listener: l, of: of, entry: newEntry(refusal, descriptors)}
}

// Of chooses the scheduler, class (lane) and client queue (line) of a request from its first bytes. The running
// requests of one client (who) are counted together.
type Of func(request []byte) (in *Scheduler, who, lane, line string)

type readingKey struct{}

// SlotOf returns the slot in which the request was parsed. The handler must end it. It returns nil if the request has
// none and the handler must begin one.
func SlotOf(ctx context.Context) *Slot {
	r, ok := ctx.Value(readingKey{}).(*reading)
	if !ok {
		return nil
	}
	return r.slot.Swap(nil)
}

// Listens marks a request as a long wait for events. It no longer counts as running: no request queues behind it, and a
// client may have as many as connections.
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
		full, ok := l.entry.admit(r)
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

// Connections are accepted a few at a time. Each costs a goroutine, buffers and about ten system calls; thousands at
// once would delay all other work. Meanwhile the kernel queues them.
const (
	acceptBatch = 16 // connections accepted per acceptPause
	acceptPause = time.Millisecond
)

// pace limits an action to acceptBatch times per acceptPause.
type pace struct {
	since time.Time
	done  int
}

func (p *pace) step() {
	now := time.Now()
	if now.Sub(p.since) >= acceptPause {
		p.since, p.done = now, 0
	}
	if p.done++; p.done > acceptBatch {
		time.Sleep(acceptPause - now.Sub(p.since))
		p.since, p.done = time.Now(), 1
	}
}

// reading is a connection whose next request is parsed in a slot. The server reads it on one goroutine, up to the start
// of the handler. Reads for the handler need no slot, nor does the single-byte read that detects a disconnect. A slot
// that the handler does not take is given back when the server waits for the next request.
type reading struct {
	net.Conn
	of     Of
	entry  *entry
	seat   connState
	ctx    context.Context // until it is closed
	cancel context.CancelFunc
	begun  atomic.Bool // the handler has started
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

// onState handles a connection state reported by the server.
func (r *reading) onState(s http.ConnState) {
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

// Close implements net.Conn. The owner of a hijacked connection calls it too.
func (r *reading) Close() error {
	r.cancel()
	r.entry.leave(r)
	return r.Conn.Close()
}

// CloseWrite closes the write side, as upgraded connections need it.
func (r *reading) CloseWrite() error {
	if c, ok := r.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return nil
}

// Header returns the value of a header in the first bytes of a request, or "".
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
