//go:build unix

// Package pagesocket is the page's socket: all sessions that a page shows, over one connection
// (docs/web-protocol.md). It makes frames and takes what is typed; who may see what and do what, its
// host says.
//
// One goroutine reads what the page says, one tells it of sessions, and each subscription has one that shows its
// session and, once something is typed, one that types. What is written goes through one lock; nobody queues: a page
// that is slow gets the newest frame when it has drawn the one before, and of events, when it missed some, the lists
// anew. Rows are 0-based; versions of screens count within an epoch, which is a daemon's life.
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
	"github.com/longterm-dev/longterm/session/access"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/secrets"
	"github.com/longterm-dev/longterm/session/web"
	"github.com/longterm-dev/longterm/session/web/wire"
)

// Bounds of a page's socket.
const (
	maxSockets  = 256              // at a time
	writeTime   = 30 * time.Second // of one write: a page that never reads is cut off
	tickEvery   = 20 * time.Second
	deadAfter   = 90 * time.Second // nothing was heard, not even an answer to a ping
	usualRate   = 2000             // messages a second
	packFrom    = 512              // bytes from which a message is packed
	listAtOnce  = 100              // sessions in a message
	maxInFlight = 1 << 18          // bytes of frames that were not acknowledged, of all subscriptions but the first frame of each
)

// Close codes of the page's socket.
const (
	CloseRevoked  = 4001
	CloseNonsense = 4002
	CloseFlood    = 4003
)

var upgrader = websocket.Upgrader{
	ReadBufferSize: 4096, WriteBufferSize: 4096, EnableCompression: true, Subprotocols: []string{web.Protocol},
	CheckOrigin: func(*http.Request) bool { return true },                // the doors look at origins, and there is none at our own socket
	Error:       func(http.ResponseWriter, *http.Request, int, error) {}, // Serve's caller answers
}

// Host is the half of the daemon that knows who asks, by the context, and what he may.
type Host interface {
	// Grant is what who asks may do.
	Grant(ctx context.Context) access.Grant
	// Sessions are those that he sees, and Session is one of them.
	Sessions(ctx context.Context) ([]api.Session, error)
	Session(ctx context.Context, name string) (*registry.Handle, error)
	// Approvals are what waits for a person.
	Approvals(ctx context.Context) ([]api.Approval, error)
	// ShowsEvent says whether he sees what happened, and takes out of it what he does not.
	ShowsEvent(ctx context.Context, e *api.Event) bool
	// Veil is what is masked for him; nil: nothing.
	Veil(ctx context.Context) *secrets.Set
	// Type types, by the rules. asked is told when a person has to allow it first, and is waited for.
	Type(ctx context.Context, e *registry.Handle, t session.Typing, asked func()) error
	// Offset is where in a session's output a moment is.
	Offset(ctx context.Context, e *registry.Handle, moment string) (uint64, error)
	// Error is an error as it is told.
	Error(err error) *api.Error
}

// Sockets serves pages. The zero values of the bounds stand for the usual ones.
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
	ctx context.Context // of the request: who asks, for as long as that counts
	end context.CancelCauseFunc

	asked chan wanted // images; nil: none yet. Of who reads what the page says

	brief bool // the page reads thin frames and parts of sessions; set before there is a subscription
	terse bool // and short messages; likewise

	asks    askings // of who tells of sessions
	changes changes // likewise

	inFlight atomic.Int64 // bytes
	working  sync.WaitGroup

	mu     sync.Mutex // guards what follows, and writing
	styles wire.Styles
	buf    []byte

	subsMu sync.Mutex // guards subs; mu is never taken under it
	subs   map[int]*sub
}

// epoch tells versions of screens of this daemon from those of the one before.
var epoch = sync.OnceValue(func() string { return strings.ToLower(rand.Text()[:4]) })

var errGone = errors.New("the page is gone")

// Serve makes a request a page's socket until either end is gone. An error is one that the request is answered with.
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
	closing := sync.OnceFunc(func() { c.bye(context.Cause(ctx)) })
	stop := context.AfterFunc(ctx, closing) // whatever the reason, the one who reads comes back
	defer stop()
	c.listen(alive)
	end(errGone)
	closing()
	c.working.Wait()
	return nil
}

// bye tells the page why its socket ends, and closes it.
func (c *conn) bye(cause error) {
	code, text := websocket.CloseGoingAway, "the daemon is leaving"
	switch {
	case errors.Is(cause, access.ErrUnknown), errors.Is(cause, access.ErrExpired):
		code, text = CloseRevoked, cause.Error()
	case errors.Is(cause, wire.ErrMessage):
		code, text = CloseNonsense, "this is not a message"
	case errors.Is(cause, errLarge):
		code, text = websocket.CloseMessageTooBig, cause.Error()
	case errors.Is(cause, errFlood):
		code, text = CloseFlood, cause.Error()
	}
	_ = c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, text), time.Now().Add(time.Second))
	if code == CloseNonsense || code == CloseFlood || code == websocket.CloseMessageTooBig { // what was not read would have the system take the reason back
		conn := c.ws.NetConn()
		_ = conn.SetReadDeadline(time.Now().Add(byeTime))
		_, _ = io.CopyN(io.Discard, conn, 4*wire.MaxMessage)
	}
	_ = c.ws.Close()
}

// byeTime bounds how long a page that does harm is heard after it was told.
const byeTime = 500 * time.Millisecond

var (
	errFlood = errors.New("too many messages")
	errLarge = fmt.Errorf("a message has at most %d bytes", wire.MaxMessage)
)

// listen takes what the page says until it is gone.
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
		if count++; count > cmp.Or(c.srv.Rate, usualRate) {
			c.end(errFlood)
			return
		}
		m, err := wire.Read(b)
		if err != nil || kind != websocket.TextMessage {
			c.end(wire.ErrMessage)
			return
		}
		switch {
		case m.T == "hello" && !greeted:
			greeted, c.brief, c.terse = true, m.Brief, m.Brief && m.Terse
			c.working.Go(func() { c.tell(m.After) })
		case greeted:
			c.take(&m)
		}
	}
}

// read is the next message, of which no more is kept than it may have. The library's limit is none for that: it counts
// what comes over the line, of a packed message a thousandth, and the page is told no reason.
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

// take does what a message asks for.
func (c *conn) take(m *wire.Message) {
	switch m.T {
	case "sub":
		c.subscribe(m)
	case "unsub":
		c.drop(m.ID)
	case "ack":
		if p := c.sub(m.ID); p != nil {
			p.acknowledged(m.N)
		}
	case "img":
		c.wantsImage(m)
	case "key", "text", "paste", "mouse", "focus", "resize":
		p := c.sub(m.ID)
		if p == nil {
			c.refuse(m, api.Errorf(api.CodeNotFound, "there is no subscription %d", m.ID))
			return
		}
		p.input(m)
	}
}

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

// write sends a message, which make appends; nothing where it appends nothing.
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
	c.ws.EnableWriteCompression(len(b) >= packFrom)
	if err := c.ws.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return err
	}
	err := c.ws.WriteMessage(websocket.TextMessage, b)
	if err != nil {
		c.end(errGone)
	}
	return err
}

func (c *conn) say(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.write(func(dst []byte) []byte { return append(dst, b...) })
}

// said is an answer or a complaint.
type said struct {
	T       string   `json:"t"`
	Q       *int64   `json:"q,omitempty"`
	ID      int      `json:"id,omitempty"`
	Code    api.Code `json:"code,omitempty"`
	Message string   `json:"message,omitempty"`
	Hint    string   `json:"hint,omitempty"`
}

func (c *conn) complaint(kind string, err error) said {
	e := c.srv.Host.Error(err)
	return said{T: kind, Code: e.Code, Message: e.Message, Hint: e.Hint}
}

// refuse tells that a message was not done.
func (c *conn) refuse(m *wire.Message, err error) {
	v := c.complaint("err", err)
	v.Q, v.ID = m.Q, m.ID
	_ = c.say(v)
}

// hello is what the page is told first.
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

// tell tells the page of sessions and approvals, from the lists or from the event it saw last, until it is gone.
func (c *conn) tell(after uint64) {
	g := c.srv.Host.Grant(c.ctx)
	l, newest := c.srv.Registry.Bus.Begin()
	var missed []api.Event
	if after > 0 {
		c.srv.Registry.Bus.Leave(l)
		l, missed, newest = c.srv.Registry.Bus.Resume(after)
	}
	defer c.srv.Registry.Bus.Leave(l)
	err := c.say(hello{
		T: "hello", Protocol: 1, Build: c.srv.Build, Page: web.Embedded().Hash(), Epoch: epoch(), Seq: newest, Name: g.Name, May: g.Rights().Names(),
		Session: g.Session, Label: g.Label, Masked: !c.srv.Host.Veil(c.ctx).Empty(), Now: time.Now(),
	})
	if err == nil && after == 0 {
		err = c.lists()
	}
	for i := 0; err == nil && i < len(missed); i++ {
		err = c.event(&missed[i])
	}
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	calm := time.NewTimer(calmFor)
	defer calm.Stop()
	for err == nil {
		if len(c.asks.held) > 0 {
			calm.Reset(time.Until(c.asks.due))
		}
		select {
		case <-c.ctx.Done():
			return
		case e, ok := <-l.C:
			if !ok {
				c.end(context.Canceled) // the daemon leaves
				return
			}
			err = c.event(&e)
		case <-calm.C:
			err = c.tellAll(c.asks.release())
		case now := <-tick.C:
			_ = c.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(time.Second))
			err = c.say(struct {
				T   string    `json:"t"`
				Now time.Time `json:"now"`
			}{"tick", now})
		}
	}
}

// lists sends all sessions and what waits for a person.
func (c *conn) lists() error {
	c.asks.held = nil
	c.asks.forget("")
	c.changes.forget("")
	list, err := c.srv.Host.Sessions(c.ctx)
	if err != nil {
		return err
	}
	veil := c.srv.Host.Veil(c.ctx)
	veil.Deep(&list)
	type sessions struct {
		T     string        `json:"t"`
		List  []api.Session `json:"list"`
		First bool          `json:"first,omitempty"`
		More  bool          `json:"more,omitempty"`
	}
	for first := true; first || len(list) > 0; first = false {
		n := min(len(list), listAtOnce)
		if err := c.say(sessions{"sessions", list[:n], first, n < len(list)}); err != nil {
			return err
		}
		list = list[n:]
	}
	asked, err := c.srv.Host.Approvals(c.ctx)
	if err != nil {
		c.srv.Log.Warn("approvals for a page", "err", err)
	}
	veil.Deep(&asked)
	return c.say(struct {
		T    string         `json:"t"`
		List []api.Approval `json:"list"`
	}{"approvals", asked})
}

// event tells of something that happened. What the page may see no more it is told is gone.
func (c *conn) event(e *api.Event) error {
	if e.Kind == "lost" {
		return c.lists()
	}
	v := *e
	if !c.srv.Host.ShowsEvent(c.ctx, &v) {
		if v.Session == nil || !c.dropOf(v.Session.ID) {
			return nil
		}
		v = api.Event{Seq: e.Seq, Kind: "removed", Session: &api.Session{ID: e.Session.ID, Name: e.Session.Name, Argv: []string{}, Labels: map[string]string{}}}
	}
	c.srv.Host.Veil(c.ctx).Deep(&v)
	if c.brief && v.Kind == "input" && v.Session != nil {
		return c.tellAll(c.asks.take(v, time.Now()))
	}
	if err := c.tellAll(c.asks.release()); err != nil {
		return err
	}
	switch {
	case v.Session == nil:
	case v.Kind == "removed":
		c.asks.forget(v.Session.ID)
	default:
		c.asks.note(&v)
	}
	return c.tellEvent(&v)
}

func (c *conn) tellAll(all []api.Event) error {
	for i := range all {
		if err := c.tellEvent(&all[i]); err != nil {
			return err
		}
	}
	return nil
}

// dropOf ends the subscriptions of a session, and says whether there were any.
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
