//go:build unix

// Package pagesocket serves the web page's socket: one connection for all sessions that a page shows
// (docs/web-protocol.md). It builds frames and types input; the Host decides what the caller may see and do.
//
// One goroutine reads the page's messages and one writes session events. Each subscription has a goroutine that sends
// frames and, after the first input, one that types. A lock serializes writes, and nothing queues: a slow page receives
// the newest frame after it acknowledged the previous one, and the full lists if it missed events. Rows are 0-based.
// Screen versions count within an epoch, the lifetime of a daemon.
package pagesocket

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/redact"
	"github.com/longterm-dev/longterm/session/web"
	"github.com/longterm-dev/longterm/session/web/wire"
)

// Bounds of a page's socket.
const (
	maxSockets   = 256              // at a time
	writeTime    = 30 * time.Second // of one write: a page that never reads is cut off
	pingInterval = 20 * time.Second
	// without any message from the page, including answers to pings, it counts as disconnected
	deadAfter       = 90 * time.Second
	defaultRate     = 2000 // messages a second
	minCompressSize = 512  // size in bytes from which a message is compressed
	listBatch       = 100  // sessions in one message of a list
	// bytes of unacknowledged frames of all subscriptions, not counting the first frame of each
	maxInFlight = 1 << 18
)

// Close codes of the page's socket.
const (
	CloseRevoked        = 4001
	CloseInvalidMessage = 4002
	CloseFlood          = 4003
)

var upgrader = websocket.Upgrader{
	ReadBufferSize: 4096, WriteBufferSize: 4096, EnableCompression: true, Subprotocols: []string{web.Protocol},
	// the HTTP server checks origins; the local socket has none
	CheckOrigin: func(*http.Request) bool { return true },
	Error:       func(http.ResponseWriter, *http.Request, int, error) {}, // Serve's caller answers
}

// Host is the part of the daemon that knows the caller, by the context, and its rights.
type Host interface {
	// Grant returns what the caller may do.
	Grant(ctx context.Context) apitoken.Grant
	// Sessions returns the sessions that the caller may see, Session one of them.
	Sessions(ctx context.Context) ([]api.Session, error)
	Session(ctx context.Context, name string) (*registry.Handle, error)
	// Approvals returns the approvals that wait for a user.
	Approvals(ctx context.Context) ([]api.Approval, error)
	// ShowsEvent reports whether the caller may see e, and removes the parts that it may not.
	ShowsEvent(ctx context.Context, e *api.Event) bool
	// Redactor returns the secrets to mask for the caller; nil if none.
	Redactor(ctx context.Context) *redact.Set
	// Type types by the rules. It calls asked when a user has to approve the input, and waits for the answer.
	Type(ctx context.Context, e *registry.Handle, t session.TypeRequest, asked func()) error
	// Offset returns the offset of a moment in a session's output.
	Offset(ctx context.Context, e *registry.Handle, moment string) (uint64, error)
	// Error converts an error to the form that clients receive.
	Error(err error) *api.Error
}

// Sockets serves pages. Zero bounds mean the defaults.
type Sockets struct {
	Host     Host
	Registry *registry.Registry
	Log      *slog.Logger
	Build    string
	Rate     int // messages a second of one page

	open atomic.Int32
}

// conn is a page's connection.
type conn struct {
	srv *Sockets
	ws  *websocket.Conn
	ctx context.Context         // context of the request: the caller, until its grant ends
	end context.CancelCauseFunc // ends ctx

	imageRequests chan imageRequest // image requests; nil if none yet. Used by the reader

	partialFrames bool // the page supports partial frames and sessions; set before the first subscription
	shortMessages bool // the page supports short messages; set before the first subscription

	inputs  inputFilter // used by the goroutine that writes events
	changes changes     // likewise

	inFlight atomic.Int64 // bytes
	working  sync.WaitGroup

	mu     sync.Mutex // guards what follows, and writing
	styles wire.Styles
	buf    []byte

	subsMu sync.Mutex // guards subs; mu is never taken under it
	subs   map[int]*sub
}

// epoch identifies this daemon in screen versions, so that they differ from those of the previous daemon.
var epoch = sync.OnceValue(func() string { return strings.ToLower(rand.Text()[:4]) })

var errDisconnected = errors.New("page disconnected")

// Serve upgrades a request to a page's socket and returns when either end closes it. The caller answers the request
// with a returned error.
func (s *Sockets) Serve(w http.ResponseWriter, r *http.Request) error {
	defer s.open.Add(-1)
	if s.open.Add(1) > maxSockets {
		return api.Errorf(api.CodeLimit, "%d pages are connected, which is the most", maxSockets).WithHint("close some")
	}
	ws, err := upgrader.Upgrade(w, r, nil)
	if _, refused := err.(websocket.HandshakeError); refused {
		return api.Errorf(api.CodeInvalid, "%v", err).WithHint("a page of longterm makes this request")
	}
	if err != nil {
		return nil // it broke off
	}
	ctx, end := context.WithCancelCause(r.Context())
	c := &conn{srv: s, ws: ws, ctx: ctx, end: end, subs: map[int]*sub{}}
	alive := func() { _ = ws.SetReadDeadline(time.Now().Add(deadAfter)) }
	ws.SetPongHandler(func(string) error { alive(); return nil })
	alive()
	closing := sync.OnceFunc(func() { c.closeWith(context.Cause(ctx)) })
	stop := context.AfterFunc(ctx, closing) // ends the read in any case
	defer stop()
	c.listen(alive)
	end(errDisconnected)
	closing()
	c.working.Wait()
	return nil
}

// closeWith sends the page the reason and closes the socket.
func (c *conn) closeWith(cause error) {
	code, text := websocket.CloseGoingAway, "daemon stopping"
	switch {
	case errors.Is(cause, apitoken.ErrNotFound), errors.Is(cause, apitoken.ErrExpired):
		code, text = CloseRevoked, cause.Error()
	case errors.Is(cause, wire.ErrMessage):
		code, text = CloseInvalidMessage, "invalid message"
	case errors.Is(cause, errLarge):
		code, text = websocket.CloseMessageTooBig, cause.Error()
	case errors.Is(cause, errFlood):
		code, text = CloseFlood, cause.Error()
	}
	_ = c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, text), time.Now().Add(time.Second))
	// unread data would make the system discard the reason
	if code == CloseInvalidMessage || code == CloseFlood || code == websocket.CloseMessageTooBig {
		conn := c.ws.NetConn()
		_ = conn.SetReadDeadline(time.Now().Add(closeTime))
		_, _ = io.CopyN(io.Discard, conn, 4*wire.MaxMessage)
	}
	_ = c.ws.Close()
}

// closeTime bounds how long the socket reads on after an invalid message, so that the page receives the reason.
const closeTime = 500 * time.Millisecond

var (
	errFlood = errors.New("too many messages")
	errLarge = fmt.Errorf("a message has at most %d bytes", wire.MaxMessage)
)

// listen handles the page's messages until the connection ends.
func (c *conn) listen(alive func()) {
	greeted, second, count := false, time.Time{}, 0
	for {
		kind, b, err := c.read()
		if err != nil {
			if errors.Is(err, websocket.ErrReadLimit) {
				c.end(errLarge)
			}
			return
		}
		alive()
		if now := time.Now(); now.Sub(second) >= time.Second {
			second, count = now, 0
		}
		if count++; count > cmp.Or(c.srv.Rate, defaultRate) {
			c.end(errFlood)
			return
		}
		m, err := wire.ParseMessage(b)
		if err != nil || kind != websocket.TextMessage {
			c.end(wire.ErrMessage)
			return
		}
		switch {
		case m.T == "hello" && !greeted:
			greeted, c.partialFrames, c.shortMessages = true, m.Brief, m.Brief && m.Terse
			c.working.Go(func() { c.writeEvents(m.After) })
		case greeted:
			c.handle(&m)
		}
	}
}

// read returns the next message, of limited size. The library's limit is not enough: it counts compressed bytes,
// perhaps a thousandth of the message, and gives the page no reason.
func (c *conn) read() (kind int, b []byte, err error) {
	kind, r, err := c.ws.NextReader()
	if err != nil {
		return 0, nil, err
	}
	if b, err = io.ReadAll(io.LimitReader(r, wire.MaxMessage+1)); err == nil && len(b) > wire.MaxMessage {
		err = websocket.ErrReadLimit
	}
	return kind, b, err
}

// handle handles one message.
func (c *conn) handle(m *wire.Message) {
	switch m.T {
	case "sub":
		c.subscribe(m)
	case "unsub":
		c.drop(m.ID)
	case "ack":
		if p := c.sub(m.ID); p != nil {
			p.acknowledge(m.N)
		}
	case "img":
		c.requestImage(m)
	case "key", "text", "paste", "mouse", "focus", "resize":
		p := c.sub(m.ID)
		if p == nil {
			c.refuse(m, api.Errorf(api.CodeNotFound, "subscription %d not found", m.ID))
			return
		}
		p.input(m)
	}
}

// sub returns a subscription, or nil.
func (c *conn) sub(id int) *sub {
	c.subsMu.Lock()
	defer c.subsMu.Unlock()
	return c.subs[id]
}

// drop ends a subscription.
func (c *conn) drop(id int) {
	c.subsMu.Lock()
	p := c.subs[id]
	delete(c.subs, id)
	c.subsMu.Unlock()
	if p != nil {
		p.stop()
	}
}

// write sends the message that make appends, if any.
func (c *conn) write(make func(dst []byte) []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := make(c.buf[:0])
	if cap(b) <= 1<<17 {
		c.buf = b
	}
	if len(b) == 0 {
		return nil
	}
	c.ws.EnableWriteCompression(len(b) >= minCompressSize)
	if err := c.ws.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return err
	}
	err := c.ws.WriteMessage(websocket.TextMessage, b)
	if err != nil {
		c.end(errDisconnected)
	}
	return err
}

func (c *conn) send(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.write(func(dst []byte) []byte { return append(dst, b...) })
}

// reply is an answer or an error to the page.
type reply struct {
	T       string   `json:"t"`
	Q       *int64   `json:"q,omitempty"`
	ID      int      `json:"id,omitempty"`
	Code    api.Code `json:"code,omitempty"`
	Message string   `json:"message,omitempty"`
	Hint    string   `json:"hint,omitempty"`
}

// errorReply returns an error as a message.
func (c *conn) errorReply(kind string, err error) reply {
	e := c.srv.Host.Error(err)
	return reply{T: kind, Code: e.Code, Message: e.Message, Hint: e.Hint}
}

// refuse reports that a message was rejected.
func (c *conn) refuse(m *wire.Message, err error) {
	v := c.errorReply("err", err)
	v.Q, v.ID = m.Q, m.ID
	_ = c.send(v)
}

// hello is the first message to the page.
type hello struct {
	T        string    `json:"t"`
	Protocol int       `json:"protocol"`
	Build    string    `json:"build"`
	Page     string    `json:"page"`
	Epoch    string    `json:"epoch"`
	Seq      uint64    `json:"seq"`
	Name     string    `json:"name,omitempty"`
	May      []string  `json:"may"`
	Session  string    `json:"session,omitempty"`
	Label    string    `json:"label,omitempty"`
	Masked   bool      `json:"masked,omitempty"`
	Now      time.Time `json:"now"`
}

// writeEvents sends sessions, approvals and events until the connection ends. It starts with the lists, or after the
// last event that the page saw.
func (c *conn) writeEvents(after uint64) {
	g := c.srv.Host.Grant(c.ctx)
	l, newest := c.srv.Registry.Bus.ListenWithSeq()
	var missed []api.Event
	if after > 0 {
		c.srv.Registry.Bus.Unsubscribe(l)
		l, missed, newest = c.srv.Registry.Bus.Resume(after)
	}
	defer c.srv.Registry.Bus.Unsubscribe(l)
	err := c.send(hello{
		T: "hello", Protocol: 1, Build: c.srv.Build, Page: web.Embedded().Hash(), Epoch: epoch(), Seq: newest, Name: g.Name, May: g.Rights().Names(),
		Session: g.Session, Label: g.Label, Masked: !c.srv.Host.Redactor(c.ctx).Empty(), Now: time.Now(),
	})
	if err == nil && after == 0 {
		err = c.sendLists()
	}
	for i := 0; err == nil && i < len(missed); i++ {
		err = c.reportEvent(&missed[i])
	}
	tick := time.NewTicker(pingInterval)
	defer tick.Stop()
	calm := time.NewTimer(clearDelay)
	defer calm.Stop()
	for err == nil {
		if len(c.inputs.held) > 0 {
			calm.Reset(time.Until(c.inputs.due))
		}
		select {
		case <-c.ctx.Done():
			return
		case e, ok := <-l.C:
			if !ok {
				c.end(context.Canceled) // the daemon leaves
				return
			}
			err = c.reportEvent(&e)
		case <-calm.C:
			err = c.sendEvents(c.inputs.release())
		case now := <-tick.C:
			_ = c.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(time.Second))
			err = c.send(struct {
				T   string    `json:"t"`
				Now time.Time `json:"now"`
			}{"tick", now})
		}
	}
}

// sendLists sends all sessions and pending approvals.
func (c *conn) sendLists() error {
	c.inputs.held = nil
	c.inputs.forget("")
	c.changes.forget("")
	list, err := c.srv.Host.Sessions(c.ctx)
	if err != nil {
		return err
	}
	veil := c.srv.Host.Redactor(c.ctx)
	veil.RedactDeep(&list)
	type sessions struct {
		T     string        `json:"t"`
		List  []api.Session `json:"list"`
		First bool          `json:"first,omitempty"`
		More  bool          `json:"more,omitempty"`
	}
	for first := true; first || len(list) > 0; first = false {
		n := min(len(list), listBatch)
		if err := c.send(sessions{"sessions", list[:n], first, n < len(list)}); err != nil {
			return err
		}
		list = list[n:]
	}
	asked, err := c.srv.Host.Approvals(c.ctx)
	if err != nil {
		c.srv.Log.Warn("approvals for a page", "err", err)
	}
	veil.RedactDeep(&asked)
	return c.send(struct {
		T    string         `json:"t"`
		List []api.Approval `json:"list"`
	}{"approvals", asked})
}

// reportEvent reports an event. It reports a session as removed if the page may no longer see it.
func (c *conn) reportEvent(e *api.Event) error {
	if e.Kind == "lost" {
		return c.sendLists()
	}
	v := *e
	if !c.srv.Host.ShowsEvent(c.ctx, &v) {
		if v.Session == nil || !c.dropOf(v.Session.ID) {
			return nil
		}
		v = api.Event{Seq: e.Seq, Kind: "removed", Session: &api.Session{ID: e.Session.ID, Name: e.Session.Name, Argv: []string{}, Labels: map[string]string{}}}
	}
	c.srv.Host.Redactor(c.ctx).RedactDeep(&v)
	if c.partialFrames && v.Kind == "input" && v.Session != nil {
		return c.sendEvents(c.inputs.add(v, time.Now()))
	}
	if err := c.sendEvents(c.inputs.release()); err != nil {
		return err
	}
	switch {
	case v.Session == nil:
	case v.Kind == "removed":
		c.inputs.forget(v.Session.ID)
	default:
		c.inputs.note(&v)
	}
	return c.writeEvent(&v)
}

// sendEvents reports several events.
func (c *conn) sendEvents(all []api.Event) error {
	for i := range all {
		if err := c.writeEvent(&all[i]); err != nil {
			return err
		}
	}
	return nil
}

// dropOf ends the subscriptions of a session and reports whether any existed.
func (c *conn) dropOf(session string) bool {
	c.subsMu.Lock()
	var of []int
	for id, p := range c.subs {
		if p.e.ID() == session {
			of = append(of, id)
		}
	}
	c.subsMu.Unlock()
	for _, id := range of {
		c.drop(id)
	}
	return len(of) > 0
}
