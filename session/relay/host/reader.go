package host

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/longterm-dev/longterm/session/relay"
	"github.com/longterm-dev/longterm/session/relay/sealed"
)

// Kinds of messages: the first byte of the sealed text.
const (
	kindWelcome  = 'w' // host: response of GET web/me, the token's rights; it proves that the host has the key
	kindRequest  = 'q' // page: request
	kindCancel   = 'x' // page: request with only its number, which is canceled
	kindHead     = 'h' // host: head of a response
	kindBody     = 'd' // host: number of the request, 4 bytes, and a chunk of its response
	kindEnd      = 'e' // host: number of the request whose response is complete
	kindOpen     = 'o' // page: open the socket
	kindSocket   = 's' // both: text message of the socket
	kindClosed   = 'c' // host: closedEvent: the socket, or the reader's connection, is closed
	maxRequests  = 8   // concurrent requests of a reader
	maxRefused   = 100 // a reader with more rejected requests in a row is disconnected
	pieceOfABody = 32 << 10
)

// request is the content of kindRequest and kindCancel.
type request struct {
	ID     uint32          `json:"i"`
	Method string          `json:"m"`
	Path   string          `json:"p"`
	Body   json.RawMessage `json:"b,omitempty"`
}

// head is the content of kindHead: status and media type of a response.
type head struct {
	ID     uint32 `json:"i"`
	Status int    `json:"s"`
	Type   string `json:"t,omitempty"`
}

// closedEvent is the content of kindClosed: a WebSocket close code.
type closedEvent struct {
	Code int `json:"code"`
}

// reader is one reader of a share.
type reader struct {
	h   *Host
	ws  *websocket.Conn
	ctx context.Context

	mu      sync.Mutex // guards channel, buf and writes to ws
	channel *sealed.Channel
	buf     []byte // scratch buffer for sealed messages

	working sync.WaitGroup
	asked   sync.Map // running requests: number (uint32) → context.CancelFunc
	slots   chan struct{}
	refused int             // requests rejected in a row; owned by the receiving goroutine
	socket  *websocket.Conn // to this daemon; owned by the receiving goroutine
}

// reader serves a reader until either end disconnects.
func (h *Host) reader(ctx context.Context, name string) error {
	ws, err := h.dial(ctx, "relay/serve", name)
	if err != nil {
		return err
	}
	share := ctx
	ctx, end := context.WithCancel(ctx)
	r := &reader{h: h, ws: ws, ctx: ctx, slots: make(chan struct{}, maxRequests)}
	stop := context.AfterFunc(ctx, func() {
		_ = ws.NetConn().SetDeadline(time.Now().Add(time.Second)) // a pending write returns
		if share.Err() != nil {
			r.bye(context.Cause(share))
		}
		_ = ws.Close()
	})
	defer stop()
	defer r.working.Wait()
	defer end()
	defer func() {
		if r.socket != nil {
			_ = r.socket.Close()
		}
	}()
	heard := func() { _ = ws.SetReadDeadline(time.Now().Add(deadAfter)) }
	heard()
	ws.SetPingHandler(func(data string) error {
		heard()
		return pong(ws, data)
	})
	if err := r.greet(); err != nil {
		return err
	}
	for {
		heard()
		_, b, err := ws.ReadMessage()
		if err != nil {
			return err
		}
		if b, err = r.channel.Open(b); err != nil {
			return err
		}
		if err := r.take(b); err != nil {
			return err
		}
	}
}

// bye sends the reader the reason of the disconnect: the share ended, or the daemon stops.
func (r *reader) bye(cause error) {
	code := websocket.CloseGoingAway
	if errors.Is(cause, ErrEnded) {
		code = pageRevoked
	}
	_ = r.sayJSON(kindClosed, closedEvent{code}) // the reader may not receive it
}

// pageRevoked is the close code with which a page ends its login.
const pageRevoked = 4001

// greet exchanges the salts, derives the key, and sends kindWelcome.
func (r *reader) greet() error {
	late := time.AfterFunc(greetTime, func() { _ = r.ws.Close() }) // pings do not extend the handshake
	_, theirs, err := r.ws.ReadMessage()
	if err != nil {
		return err
	}
	if !late.Stop() {
		return os.ErrDeadlineExceeded
	}
	if len(theirs) != sealed.SaltSize {
		return sealed.ErrMessage
	}
	key, err := base64.RawURLEncoding.DecodeString(r.h.Key)
	if err != nil {
		return err
	}
	ours := make([]byte, sealed.SaltSize)
	_, _ = rand.Read(ours) // it does not fail
	channel, err := sealed.Host(key, relay.Room(r.h.Owner), theirs, ours)
	if err != nil {
		return err
	}
	_ = r.ws.SetWriteDeadline(time.Now().Add(writeTime))
	if err := r.ws.WriteMessage(websocket.BinaryMessage, ours); err != nil {
		return err
	}
	r.mu.Lock()
	r.channel = channel
	r.mu.Unlock()
	resp, err := r.h.inside.do(r.ctx, "GET", "web/me", nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	me, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return r.sayJSON(kindClosed, closedEvent{pageRevoked})
	}
	return r.send(kindWelcome, me)
}

// send seals and sends a message: its kind and the joined parts.
func (r *reader) send(kind byte, parts ...[]byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.channel == nil {
		return errNonsense
	}
	clear := bytes.Join(parts, nil)
	r.buf = r.channel.Seal(r.buf[:0], append([]byte{kind}, clear...))
	_ = r.ws.SetWriteDeadline(time.Now().Add(writeTime))
	err := r.ws.WriteMessage(websocket.BinaryMessage, r.buf)
	if cap(r.buf) > 1<<17 {
		r.buf = nil
	}
	return err
}

// sayJSON sends a message with a JSON value.
func (r *reader) sayJSON(kind byte, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return r.send(kind, b)
}

var errTooMuch = errors.New("reader exceeded its request limit")

var errNonsense = errors.New("invalid message from a reader")

// take handles an opened message of the reader. Its error ends the connection.
func (r *reader) take(b []byte) error {
	if len(b) == 0 {
		return errNonsense
	}
	kind, b := b[0], b[1:]
	switch kind {
	case kindRequest, kindCancel:
		var q request
		if err := json.Unmarshal(b, &q); err != nil {
			return errNonsense
		}
		if kind == kindCancel {
			if cancel, ok := r.asked.Load(q.ID); ok {
				cancel.(context.CancelFunc)()
			}
			return nil
		}
		return r.ask(q)
	case kindOpen:
		return r.open()
	case kindSocket:
		if r.socket == nil {
			return nil // it has just been closed
		}
		_ = r.socket.SetWriteDeadline(time.Now().Add(writeTime))
		_ = r.socket.WriteMessage(websocket.TextMessage, b) // its peer reports the error
		return nil
	default:
		return errNonsense
	}
}

// ask starts a request to this daemon, or rejects it with status 429 if the reader has too many.
func (r *reader) ask(q request) error {
	select {
	case r.slots <- struct{}{}:
		r.refused = 0
	default:
		if r.refused++; r.refused > maxRefused { // pages never do this
			if err := r.sayJSON(kindClosed, closedEvent{relay.CloseFull}); err != nil {
				return err
			}
			return errTooMuch
		}
		if err := r.sayJSON(kindHead, head{ID: q.ID, Status: http.StatusTooManyRequests}); err != nil {
			return err
		}
		return r.send(kindEnd, number(q.ID))
	}
	ctx, cancel := context.WithCancel(r.ctx)
	r.asked.Store(q.ID, cancel)
	r.working.Go(func() {
		whole := r.answer(ctx, q)
		r.asked.Delete(q.ID)
		cancel()
		<-r.slots // first: a reader that saw the end may send the next request
		if whole {
			_ = r.send(kindEnd, number(q.ID)) // the reading goroutine notices a lost connection
		}
	})
	return nil
}

// number encodes a request's number.
func number(id uint32) []byte { return binary.BigEndian.AppendUint32(nil, id) }

// answer runs a request and sends its response without kindEnd. It reports whether the response is complete.
func (r *reader) answer(ctx context.Context, q request) bool {
	var body io.Reader
	if len(q.Body) > 0 {
		body = bytes.NewReader(q.Body)
	}
	resp, err := r.h.inside.do(ctx, q.Method, q.Path, body)
	if err != nil {
		return r.sayJSON(kindHead, head{ID: q.ID, Status: http.StatusBadRequest}) == nil
	}
	defer resp.Body.Close()
	err = r.sayJSON(kindHead, head{q.ID, resp.StatusCode, resp.Header.Get("Content-Type")})
	for buf := make([]byte, pieceOfABody); err == nil; {
		var n int
		n, err = io.ReadFull(resp.Body, buf)
		if n > 0 && r.send(kindBody, number(q.ID), buf[:n]) != nil {
			return false
		}
	}
	return true
}

// open opens the page's socket to this daemon and forwards its messages to the reader.
func (r *reader) open() error {
	if r.socket != nil {
		return errNonsense
	}
	ws, err := r.h.inside.dial(r.ctx)
	if err != nil {
		return r.sayJSON(kindClosed, closedEvent{pageRevoked}) // the token no longer counts
	}
	r.socket = ws
	stop := context.AfterFunc(r.ctx, func() { _ = ws.Close() })
	r.working.Go(func() {
		defer stop()
		for {
			_, b, err := ws.ReadMessage()
			if err == nil {
				if r.send(kindSocket, b) != nil {
					return
				}
				continue
			}
			code := 1006
			var told *websocket.CloseError
			if errors.As(err, &told) {
				code = told.Code
			}
			_ = r.sayJSON(kindClosed, closedEvent{code})
			return
		}
	})
	return nil
}

// inside runs a handler in this process, and a client that is connected to it through memory.
type inside struct {
	ln     *pipes
	srv    *http.Server
	client *http.Client
}

func newInside(h http.Handler) *inside {
	ln := &pipes{conns: make(chan net.Conn), over: make(chan struct{})}
	i := &inside{ln: ln, srv: &http.Server{Handler: h, ReadHeaderTimeout: dialTime}}
	i.client = &http.Client{
		Transport:     &http.Transport{DialContext: ln.dial, MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	go func() { _ = i.srv.Serve(ln) }() // ends with the listener
	return i
}

func (i *inside) close() {
	i.client.CloseIdleConnections()
	_ = i.srv.Close()
}

// do sends a request for web/me or a path of the API.
func (i *inside) do(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	if path != "web/me" && !strings.HasPrefix(path, "v1/") {
		return nil, errNonsense
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://share/"+path, body)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return i.client.Do(req)
}

// dial opens the page's socket (v1/page).
func (i *inside) dial(ctx context.Context) (*websocket.Conn, error) {
	d := websocket.Dialer{NetDialContext: i.ln.dial, HandshakeTimeout: dialTime}
	ws, _, err := d.DialContext(ctx, "ws://share/v1/page", nil)
	return ws, err
}

// pipes is an in-memory listener: its dial connects to its Accept.
type pipes struct {
	conns chan net.Conn
	over  chan struct{}
	once  sync.Once
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	a, b := net.Pipe()
	select {
	case p.conns <- b:
		return a, nil
	case <-p.over:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.over:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.over) })
	return nil
}

// Addr implements net.Listener.
func (*pipes) Addr() net.Addr { return &net.UnixAddr{Name: "share", Net: "unix"} }
