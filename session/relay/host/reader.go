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
	kindWelcome = 'w' // host: response of GET web/me, the token's rights; it proves that the host has the key
	kindRequest = 'q' // page: request
	kindCancel  = 'x' // page: request with only its number, which is canceled
	kindHead    = 'h' // host: head of a response
	kindBody    = 'd' // host: number of the request, 4 bytes, and a chunk of its response
	kindEnd     = 'e' // host: number of the request whose response is complete
	kindOpen    = 'o' // page: open the socket
	kindSocket  = 's' // both: text message of the socket
	kindClosed  = 'c' // host: closedEvent: the socket, or the reader's connection, is closed
	maxRequests = 8   // concurrent requests of a reader
	maxRefused  = 100 // a reader with more rejected requests in a row is disconnected
	bodyChunk   = 32 << 10
)

// request is the content of kindRequest and kindCancel.
type request struct {
	ID     uint32          `json:"i"`
	Method string          `json:"m"`
	Path   string          `json:"p"`
	Body   json.RawMessage `json:"b,omitempty"`
}

// responseHead is the content of kindHead: status and media type of a response.
type responseHead struct {
	ID     uint32 `json:"i"`
	Status int    `json:"s"`
	Type   string `json:"t,omitempty"`
}

// closeNotice is the content of kindClosed: a WebSocket close code.
type closeNotice struct {
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

	tasks         sync.WaitGroup
	cancels       sync.Map // running requests: number (uint32) → context.CancelFunc
	requestSlots  chan struct{}
	rejectedInRow int             // requests rejected in a row; owned by the receiving goroutine
	socket        *websocket.Conn // to this daemon; owned by the receiving goroutine
}

// serveReader serves a reader until either end disconnects.
func (h *Host) serveReader(ctx context.Context, name string) error {
	ws, err := h.dial(ctx, "relay/serve", name)
	if err != nil {
		return err
	}
	share := ctx
	ctx, end := context.WithCancel(ctx)
	r := &reader{h: h, ws: ws, ctx: ctx, requestSlots: make(chan struct{}, maxRequests)}
	stop := context.AfterFunc(ctx, func() {
		_ = ws.NetConn().SetDeadline(time.Now().Add(time.Second)) // a pending write returns
		if share.Err() != nil {
			r.sendClosed(context.Cause(share))
		}
		_ = ws.Close()
	})
	defer stop()
	defer r.tasks.Wait()
	defer end()
	defer func() {
		if r.socket != nil {
			_ = r.socket.Close()
		}
	}()
	heard := func() { _ = ws.SetReadDeadline(time.Now().Add(pingTimeout)) }
	heard()
	ws.SetPingHandler(func(data string) error {
		heard()
		return pong(ws, data)
	})
	if err := r.handshake(); err != nil {
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
		if err := r.handleMessage(b); err != nil {
			return err
		}
	}
}

// sendClosed sends the reader the reason of the disconnect: the share ended, or the daemon stops.
func (r *reader) sendClosed(cause error) {
	code := websocket.CloseGoingAway
	if errors.Is(cause, ErrEnded) {
		code = closeRevoked
	}
	_ = r.sendJSON(kindClosed, closeNotice{code}) // the reader may not receive it
}

// closeRevoked is the close code with which a page ends its login.
const closeRevoked = 4001

// handshake exchanges the salts, derives the key, and sends kindWelcome.
func (r *reader) handshake() error {
	late := time.AfterFunc(handshakeTimeout, func() { _ = r.ws.Close() }) // pings do not extend the handshake
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
	_ = r.ws.SetWriteDeadline(time.Now().Add(writeTimeout))
	if err := r.ws.WriteMessage(websocket.BinaryMessage, ours); err != nil {
		return err
	}
	r.mu.Lock()
	r.channel = channel
	r.mu.Unlock()
	resp, err := r.h.server.request(r.ctx, "GET", "web/me", nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	me, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return r.sendJSON(kindClosed, closeNotice{closeRevoked})
	}
	return r.send(kindWelcome, me)
}

// send seals and sends a message: its kind and the joined parts.
func (r *reader) send(kind byte, parts ...[]byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.channel == nil {
		return errInvalidMessage
	}
	clear := bytes.Join(parts, nil)
	r.buf = r.channel.Seal(r.buf[:0], append([]byte{kind}, clear...))
	_ = r.ws.SetWriteDeadline(time.Now().Add(writeTimeout))
	err := r.ws.WriteMessage(websocket.BinaryMessage, r.buf)
	if cap(r.buf) > 1<<17 {
		r.buf = nil
	}
	return err
}

// sendJSON sends a message with a JSON value.
func (r *reader) sendJSON(kind byte, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return r.send(kind, b)
}

var errTooManyRequests = errors.New("reader exceeded its request limit")

var errInvalidMessage = errors.New("invalid message from a reader")

// handleMessage handles an opened message of the reader. Its error ends the connection.
func (r *reader) handleMessage(b []byte) error {
	if len(b) == 0 {
		return errInvalidMessage
	}
	kind, b := b[0], b[1:]
	switch kind {
	case kindRequest, kindCancel:
		var q request
		if err := json.Unmarshal(b, &q); err != nil {
			return errInvalidMessage
		}
		if kind == kindCancel {
			if cancel, ok := r.cancels.Load(q.ID); ok {
				cancel.(context.CancelFunc)()
			}
			return nil
		}
		return r.startRequest(q)
	case kindOpen:
		return r.openSocket()
	case kindSocket:
		if r.socket == nil {
			return nil // it has just been closed
		}
		_ = r.socket.SetWriteDeadline(time.Now().Add(writeTimeout))
		_ = r.socket.WriteMessage(websocket.TextMessage, b) // its peer reports the error
		return nil
	default:
		return errInvalidMessage
	}
}

// startRequest starts a request to this daemon, or rejects it with status 429 if the reader has too many.
func (r *reader) startRequest(q request) error {
	select {
	case r.requestSlots <- struct{}{}:
		r.rejectedInRow = 0
	default:
		if r.rejectedInRow++; r.rejectedInRow > maxRefused { // pages never do this
			if err := r.sendJSON(kindClosed, closeNotice{relay.CloseFull}); err != nil {
				return err
			}
			return errTooManyRequests
		}
		if err := r.sendJSON(kindHead, responseHead{ID: q.ID, Status: http.StatusTooManyRequests}); err != nil {
			return err
		}
		return r.send(kindEnd, encodeID(q.ID))
	}
	ctx, cancel := context.WithCancel(r.ctx)
	r.cancels.Store(q.ID, cancel)
	r.tasks.Go(func() {
		whole := r.respond(ctx, q)
		r.cancels.Delete(q.ID)
		cancel()
		<-r.requestSlots // first: a reader that saw the end may send the next request
		if whole {
			_ = r.send(kindEnd, encodeID(q.ID)) // the reading goroutine notices a lost connection
		}
	})
	return nil
}

// encodeID encodes a request's number.
func encodeID(id uint32) []byte { return binary.BigEndian.AppendUint32(nil, id) }

// respond runs a request and sends its response without kindEnd. It reports whether the response is complete.
func (r *reader) respond(ctx context.Context, q request) bool {
	var body io.Reader
	if len(q.Body) > 0 {
		body = bytes.NewReader(q.Body)
	}
	resp, err := r.h.server.request(ctx, q.Method, q.Path, body)
	if err != nil {
		return r.sendJSON(kindHead, responseHead{ID: q.ID, Status: http.StatusBadRequest}) == nil
	}
	defer resp.Body.Close()
	err = r.sendJSON(kindHead, responseHead{q.ID, resp.StatusCode, resp.Header.Get("Content-Type")})
	for buf := make([]byte, bodyChunk); err == nil; {
		var n int
		n, err = io.ReadFull(resp.Body, buf)
		if n > 0 && r.send(kindBody, encodeID(q.ID), buf[:n]) != nil {
			return false
		}
	}
	return true
}

// openSocket opens the page's socket to this daemon and forwards its messages to the reader.
func (r *reader) openSocket() error {
	if r.socket != nil {
		return errInvalidMessage
	}
	ws, err := r.h.server.dial(r.ctx)
	if err != nil {
		return r.sendJSON(kindClosed, closeNotice{closeRevoked}) // the token no longer counts
	}
	r.socket = ws
	stop := context.AfterFunc(r.ctx, func() { _ = ws.Close() })
	r.tasks.Go(func() {
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
			_ = r.sendJSON(kindClosed, closeNotice{code})
			return
		}
	})
	return nil
}

// inProcessServer runs a handler in this process, and a client that is connected to it through memory.
type inProcessServer struct {
	listener *pipeListener
	srv      *http.Server
	client   *http.Client
}

func newInProcessServer(h http.Handler) *inProcessServer {
	ln := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	i := &inProcessServer{listener: ln, srv: &http.Server{Handler: h, ReadHeaderTimeout: dialTimeout}}
	i.client = &http.Client{
		Transport:     &http.Transport{DialContext: ln.dial, MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	go func() { _ = i.srv.Serve(ln) }() // ends with the listener
	return i
}

func (i *inProcessServer) close() {
	i.client.CloseIdleConnections()
	_ = i.srv.Close()
}

// request sends a request for web/me or a path of the API.
func (i *inProcessServer) request(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	if path != "web/me" && !strings.HasPrefix(path, "v1/") {
		return nil, errInvalidMessage
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
func (i *inProcessServer) dial(ctx context.Context) (*websocket.Conn, error) {
	d := websocket.Dialer{NetDialContext: i.listener.dial, HandshakeTimeout: dialTimeout}
	ws, _, err := d.DialContext(ctx, "ws://share/v1/page", nil)
	return ws, err
}

// pipeListener is an in-memory listener: its dial connects to its Accept.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	a, b := net.Pipe()
	select {
	case p.conns <- b:
		return a, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (p *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *pipeListener) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr implements net.Listener.
func (*pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "share", Net: "unix"} }
