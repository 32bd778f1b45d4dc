//go:build unix

package httpapi

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"github.com/longterm-dev/longterm/session/access"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/gateway"
	"github.com/longterm-dev/longterm/session/web"
	"github.com/longterm-dev/longterm/session/web/wire"
)

// The page's socket carries all sessions that it shows (docs/web-protocol.md). One goroutine reads what the page says,
// one tells it of sessions, and each subscription has one that shows its session and, once something is typed, one
// that types. What is written goes through one lock; nobody queues: a page that is slow gets the newest frame when it
// has drawn the one before, and of events, when it missed some, the lists anew.

// Bounds of a page's socket.
const (
	maxPages    = 256 // sockets at a time
	tickEvery   = 20 * time.Second
	deadAfter   = 90 * time.Second // nothing was heard, not even an answer to a ping
	maxRate     = 2000             // messages a second
	packFrom    = 512              // bytes from which a message is packed
	listAtOnce  = 100              // sessions in a message
	maxInFlight = 1 << 18          // bytes of frames that were not acknowledged, of all subscriptions but the first frame of each
)

// Close codes of the page's socket.
const (
	closeRevoked  = 4001
	closeNonsense = 4002
	closeFlood    = 4003
)

var pageUpgrader = websocket.Upgrader{
	ReadBufferSize: 4096, WriteBufferSize: 4096, EnableCompression: true, Subprotocols: []string{web.Protocol},
	CheckOrigin: func(*http.Request) bool { return true }, // the doors look at origins, and there is none at our own socket
}

// pageConn is a page's connection.
type pageConn struct {
	srv *Server
	ws  *websocket.Conn
	ctx context.Context // of the request: who asks, for as long as that counts
	end context.CancelCauseFunc

	inFlight atomic.Int64 // bytes
	working  sync.WaitGroup

	mu     sync.Mutex // guards what follows, and writing
	styles wire.Styles
	buf    []byte

	subsMu sync.Mutex // guards subs; mu is never taken under it
	subs   map[int]*pageSub
}

// pageEpoch tells versions of screens of this daemon from those of the one before.
var pageEpoch = sync.OnceValue(func() string { return strings.ToLower(rand.Text()[:4]) })

var errPage = errors.New("the page is gone")

func (s *Server) servePage(w http.ResponseWriter, r *http.Request) {
	if s.pages.Add(1) > maxPages {
		s.pages.Add(-1)
		writeError(w, api.Errorf(api.CodeLimit, "%d pages are connected, which is the most", maxPages).WithHint("close some"))
		return
	}
	defer s.pages.Add(-1)
	ws, err := pageUpgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	ctx, end := context.WithCancelCause(r.Context())
	c := &pageConn{srv: s, ws: ws, ctx: ctx, end: end, subs: map[int]*pageSub{}}
	ws.SetReadLimit(wire.MaxMessage)
	alive := func() { _ = ws.SetReadDeadline(time.Now().Add(deadAfter)) }
	ws.SetPongHandler(func(string) error { alive(); return nil })
	alive()
	closing := sync.OnceFunc(func() { c.bye(context.Cause(ctx)) })
	stop := context.AfterFunc(ctx, closing) // whatever the reason, the one who reads comes back
	defer stop()
	c.listen(alive)
	end(errPage)
	closing()
	c.working.Wait()
}

// bye tells the page why its socket ends, and closes it.
func (c *pageConn) bye(cause error) {
	code, text := websocket.CloseGoingAway, "the daemon is leaving"
	switch {
	case errors.Is(cause, access.ErrUnknown), errors.Is(cause, access.ErrExpired):
		code, text = closeRevoked, cause.Error()
	case errors.Is(cause, wire.ErrMessage):
		code, text = closeNonsense, "this is not a message"
	case errors.Is(cause, errFlood):
		code, text = closeFlood, cause.Error()
	}
	_ = c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, text), time.Now().Add(time.Second))
	if code == closeNonsense || code == closeFlood { // what was not read would have the system take the reason back
		conn := c.ws.NetConn()
		_ = conn.SetReadDeadline(time.Now().Add(byeTime))
		_, _ = io.CopyN(io.Discard, conn, 4*wire.MaxMessage)
	}
	_ = c.ws.Close()
}

// byeTime bounds how long a page that does harm is heard after it was told.
const byeTime = 500 * time.Millisecond

var errFlood = errors.New("too many messages")

// listen takes what the page says until it is gone.
func (c *pageConn) listen(alive func()) {
	greeted, second, count := false, time.Time{}, 0
	for {
		kind, b, err := c.ws.ReadMessage()
		if err != nil {
			if errors.Is(err, websocket.ErrReadLimit) {
				c.end(wire.ErrMessage)
			}
			return
		}
		alive()
		if now := time.Now(); now.Sub(second) >= time.Second {
			second, count = now, 0
		}
		if count++; count > c.srv.pageRate {
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
			greeted = true
			c.working.Go(func() { c.tell(m.After) })
		case greeted:
			c.take(&m)
		}
	}
}

// take does what a message asks for.
func (c *pageConn) take(m *wire.Message) {
	switch m.T {
	case "sub":
		c.subscribe(m)
	case "unsub":
		c.drop(m.ID)
	case "ack":
		if p := c.sub(m.ID); p != nil {
			p.acknowledged(m.N)
		}
	case "key", "text", "paste", "mouse", "focus", "resize":
		p := c.sub(m.ID)
		if p == nil {
			c.refuse(m, api.Errorf(api.CodeNotFound, "there is no subscription %d", m.ID))
			return
		}
		p.input(m)
	}
}

func (c *pageConn) sub(id int) *pageSub {
	c.subsMu.Lock()
	defer c.subsMu.Unlock()
	return c.subs[id]
}

// drop ends a subscription.
func (c *pageConn) drop(id int) {
	c.subsMu.Lock()
	p := c.subs[id]
	delete(c.subs, id)
	c.subsMu.Unlock()
	if p != nil {
		p.stop()
	}
}

// write sends a message, which make appends; nothing where it appends nothing.
func (c *pageConn) write(make func(dst []byte) []byte) error {
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
		c.end(errPage)
	}
	return err
}

func (c *pageConn) say(v any) error {
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

func complaint(kind string, err error) said {
	var e *api.Error
	if !errors.As(toAPI(err), &e) {
		e = api.Errorf(api.CodeInternal, "%v", err)
	}
	return said{T: kind, Code: e.Code, Message: e.Message, Hint: e.Hint}
}

// refuse tells that a message was not done.
func (c *pageConn) refuse(m *wire.Message, err error) {
	v := complaint("err", err)
	v.Q, v.ID = m.Q, m.ID
	_ = c.say(v)
}

// hello is what the page is told first.
type hello struct {
	T        string    `json:"t"`
	Protocol int       `json:"protocol"`
	Build    string    `json:"build"`
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
func (c *pageConn) tell(after uint64) {
	g := access.Grant{Level: access.All}
	if own := grantOf(c.ctx); own != nil {
		g = *own
	}
	l, newest := c.srv.reg.Bus.Begin()
	missed, whole := []api.Event(nil), false
	if after > 0 {
		c.srv.reg.Bus.Leave(l)
		l, missed, newest, whole = c.srv.reg.Bus.Resume(after)
	}
	defer c.srv.reg.Bus.Leave(l)
	err := c.say(hello{
		T: "hello", Protocol: 1, Build: c.srv.build, Epoch: pageEpoch(), Seq: newest, Name: g.Name, May: g.Rights().Names(),
		Session: g.Session, Label: g.Label, Masked: !c.srv.veil(c.ctx).Empty(), Now: time.Now(),
	})
	if err == nil && !whole {
		err = c.lists()
	}
	for i := 0; err == nil && i < len(missed); i++ {
		err = c.event(&missed[i])
	}
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	for err == nil {
		select {
		case <-c.ctx.Done():
			return
		case e, ok := <-l.C:
			if !ok {
				c.end(context.Canceled) // the daemon leaves
				return
			}
			err = c.event(&e)
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
func (c *pageConn) lists() error {
	list, err := c.srv.listSessions(c.ctx, &listQuery{})
	if err != nil {
		return err
	}
	veil := c.srv.veil(c.ctx)
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
	asked, err := c.srv.gate.List(c.ctx, gateway.Query{Limit: 1000})
	if err != nil {
		c.srv.log.Warn("approvals for a page", "err", err)
	}
	mine := []api.Approval{}
	for i := range asked {
		if c.srv.shows(c.ctx, asked[i].Session) {
			mine = append(mine, asked[i])
		}
	}
	veil.Deep(&mine)
	return c.say(struct {
		T    string         `json:"t"`
		List []api.Approval `json:"list"`
	}{"approvals", mine})
}

// event tells of something that happened. What the page may see no more it is told is gone.
func (c *pageConn) event(e *api.Event) error {
	if e.Kind == "lost" {
		return c.lists()
	}
	v := *e
	if !c.srv.showsEvent(c.ctx, &v) {
		if v.Session == nil || !c.dropOf(v.Session.ID) {
			return nil
		}
		v = api.Event{Seq: e.Seq, Kind: "removed", Session: &api.Session{ID: e.Session.ID, Name: e.Session.Name, Argv: []string{}, Labels: map[string]string{}}}
	}
	c.srv.veil(c.ctx).Deep(&v)
	return c.say(struct {
		T     string     `json:"t"`
		Event *api.Event `json:"event"`
	}{"event", &v})
}

// dropOf ends the subscriptions of a session, and says whether there were any.
func (c *pageConn) dropOf(session string) bool {
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
