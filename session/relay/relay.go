// Package relay forwards the messages between a shared session's daemon and its readers, for daemons that are not
// reachable from outside. It has no key (package sealed), stores nothing, and holds one piece of a message per
// connection.
//
//	daemon ── relay/host (one socket: "reader R is here") ──┐
//	daemon ── relay/serve (one socket for R) ──────────────[relay]── relay/join (the page's socket)
//
// A room is the hash of a secret that only its daemon has. So knowing the room does not suffice to host it, and the
// relay need not remember unhosted rooms. The relay forwards the two sockets of a reader directly to each other, so
// that a slow end slows down only its peer.
//
// The relay also serves the page's files. Its operator could serve others, so readers must trust it; docs/web.md
// explains that.
package relay

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/web"
)

// Protocol is the WebSocket subprotocol of all three sockets. A page names its room as a second one, so that no URL
// contains it.
const (
	Protocol   = "longterm.relay.1"
	roomPrefix = "room." // starts the subprotocol that names a room
	// ReaderHeader names the reader that a host's socket serves.
	ReaderHeader = "Longterm-Reader"
)

// Bounds of a relay.
const (
	MaxMessage = 1<<20 + 4096 // bytes
	maxReaders = 32           // readers of a room
	chunkSize  = 16 << 10     // bytes of a message that are buffered at a time

	pairTimeout  = 15 * time.Second // limit of a reader's wait for its host's socket
	pingInterval = 25 * time.Second
	pingTimeout  = 80 * time.Second
	writeTimeout = 60 * time.Second
)

// Close codes.
const (
	CloseNoHost = 4404 // the room has no host now
	CloseFull   = 4429 // a limit of the relay or host is reached
	CloseBad    = 4400 // invalid request
)

// Room returns the room of a host's secret.
func Room(owner string) string {
	sum := sha256.Sum256([]byte("longterm room\x00" + owner))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// Server is a relay. Zero bounds mean the defaults.
type Server struct {
	MaxRooms int // limit of rooms hosted at a time
	// Forwarded states that a proxy precedes the relay and appends the client's address to X-Forwarded-For.
	Forwarded bool
	// Rate limits the forwarded bytes per second of a connection, in each direction.
	Rate int
	// Saw, if set, receives all forwarded pieces; for tests.
	OnForward func(piece []byte)

	limit *web.Limit
	mu    sync.Mutex
	rooms map[string]*room
}

// room is a room with a connected host.
type room struct {
	host    *websocket.Conn
	writeMu sync.Mutex
	waiting map[string]chan pairedSocket // guarded by Server.mu, as readers
	readers int
}

// New returns a relay with default bounds.
func New() *Server {
	return &Server{
		MaxRooms: 1000, Rate: 8 << 20, limit: web.NewLimit(60, time.Second, 10_000), rooms: map[string]*room{},
	}
}

var upgrader = websocket.Upgrader{ // its default origin check accepts our own pages, and programs
	ReadBufferSize: 4096, WriteBufferSize: 4096, Subprotocols: []string{Protocol},
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if web.ServePublic(w, r) {
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	var serve func(*websocket.Conn, *http.Request)
	switch r.URL.Path {
	case "/relay/host":
		serve = s.host
	case "/relay/serve":
		serve = s.serve
	case "/relay/join":
		serve = s.join
	default:
		writeError(w, http.StatusNotFound, api.Errorf(api.CodeNotFound, "this server is a relay and has no sessions").
			WithHint("open the link that `longterm share --relay` printed"))
		return
	}
	if wait := s.limit.Take(s.clientAddr(r)); wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
		writeError(w, http.StatusTooManyRequests, api.Errorf(api.CodeLimit, "too many connections from this address").WithHint("try again later"))
		return
	}
	if !websocket.IsWebSocketUpgrade(r) {
		writeError(w, http.StatusUpgradeRequired, api.Errorf(api.CodeInvalid, "this address serves WebSockets only").WithHint("open the link that `longterm share --relay` printed"))
		return
	}
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // Upgrade has answered
	}
	ws.SetReadLimit(MaxMessage)
	defer ws.Close()
	defer keepAlive(ws)()
	serve(ws, r)
}

func writeError(w http.ResponseWriter, status int, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(err)
}

// clientAddr returns the client's address, as far as known.
func (s *Server) clientAddr(r *http.Request) string {
	if all := r.Header.Values("X-Forwarded-For"); s.Forwarded && len(all) > 0 {
		last := all[len(all)-1]
		if ip := net.ParseIP(strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])); ip != nil {
			return ip.String()
		}
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// keepAlive pings a socket's peer and extends the read deadline with each pong, until stop is called.
func keepAlive(ws *websocket.Conn) (stop func()) {
	heard := func(string) error { return ws.SetReadDeadline(time.Now().Add(pingTimeout)) }
	_ = heard("")
	ws.SetPongHandler(heard)
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(pingInterval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_ = ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(time.Second))
			case <-over:
				return
			}
		}
	}()
	return func() {
		close(over)
		<-done
	}
}

func closeWith(ws *websocket.Conn, code int, why string) {
	_ = ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, why), time.Now().Add(time.Second))
}

// HostNotice is a message to a host.
type HostNotice struct {
	Room   string `json:"room,omitempty"`   // first: that it is hosted
	Reader string `json:"reader,omitempty"` // the reader to serve
}

func (r *room) notify(t HostNotice) error {
	r.writeMu.Lock()
	defer r.writeMu.Unlock()
	_ = r.host.SetWriteDeadline(time.Now().Add(10 * time.Second))
	return r.host.WriteJSON(t)
}

func ownerOf(r *http.Request) (id string, ok bool) {
	secret, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return Room(secret), ok && len(secret) >= 26
}

// host keeps a room open while its host is connected. A newer host replaces an older one: it is the same daemon after a
// broken connection.
func (s *Server) host(ws *websocket.Conn, r *http.Request) {
	id, ok := ownerOf(r)
	if !ok {
		closeWith(ws, CloseBad, "host secret missing")
		return
	}
	mine := &room{host: ws, waiting: map[string]chan pairedSocket{}}
	s.mu.Lock()
	old := s.rooms[id]
	full := old == nil && len(s.rooms) >= s.MaxRooms
	if !full {
		s.rooms[id] = mine
	}
	s.mu.Unlock()
	if full {
		closeWith(ws, CloseFull, "this relay is full")
		return
	}
	if old != nil {
		closeWith(old.host, websocket.CloseGoingAway, "another host took the place")
		_ = old.host.Close()
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.rooms[id] == mine {
			delete(s.rooms, id)
		}
	}()
	if mine.notify(HostNotice{Room: id}) != nil {
		return
	}
	for { // a host sends nothing
		if _, _, err := ws.NextReader(); err != nil {
			return
		}
	}
}

// serve passes a host's socket to its reader, which forwards the messages.
func (s *Server) serve(ws *websocket.Conn, r *http.Request) {
	id, _ := ownerOf(r)
	reader := r.Header.Get(ReaderHeader)
	s.mu.Lock()
	var waits chan pairedSocket
	if in := s.rooms[id]; in != nil {
		waits = in.waiting[reader]
		delete(in.waiting, reader)
	}
	s.mu.Unlock()
	if waits == nil {
		closeWith(ws, CloseNoHost, "reader disconnected")
		return
	}
	p := pairedSocket{ws, make(chan struct{})}
	waits <- p // it has room
	<-p.done
}

// pairedSocket is a host's socket for a reader; over is closed when the reader is done with it.
type pairedSocket struct {
	ws   *websocket.Conn
	done chan struct{}
}

// join connects a page with its host: it waits until the host has opened a socket for the page.
func (s *Server) join(ws *websocket.Conn, r *http.Request) {
	id := ""
	for _, p := range websocket.Subprotocols(r) {
		if room, ok := strings.CutPrefix(p, roomPrefix); ok {
			id = room
		}
	}
	reader, waits := rand.Text(), make(chan pairedSocket, 1)
	s.mu.Lock()
	in := s.rooms[id]
	full := in != nil && in.readers >= maxReaders
	if in != nil && !full {
		in.readers++
		in.waiting[reader] = waits
	}
	s.mu.Unlock()
	switch {
	case in == nil:
		closeWith(ws, CloseNoHost, "share link is not active")
		return
	case full:
		closeWith(ws, CloseFull, "too many look at this")
		return
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		in.readers--
		delete(in.waiting, reader)
	}()
	if in.notify(HostNotice{Reader: reader}) != nil {
		closeWith(ws, CloseNoHost, "share link is not active")
		return
	}
	late := time.NewTimer(pairTimeout)
	defer late.Stop()
	var host pairedSocket
	select {
	case host = <-waits:
	case <-late.C:
		s.mu.Lock()
		_, still := in.waiting[reader]
		delete(in.waiting, reader)
		s.mu.Unlock()
		if still {
			closeWith(ws, CloseNoHost, "the sharing daemon does not answer")
			return
		}
		host = <-waits // it is just coming
	}
	defer close(host.done)
	s.forward(r.Context(), ws, host.ws)
}

// forward forwards in both directions until either end closes, then closes both.
func (s *Server) forward(ctx context.Context, a, b *websocket.Conn) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	stop := context.AfterFunc(ctx, func() {
		for _, ws := range []*websocket.Conn{a, b} {
			closeWith(ws, websocket.CloseGoingAway, "other end disconnected")
			_ = ws.Close()
		}
	})
	defer stop()
	var both sync.WaitGroup
	for _, way := range [][2]*websocket.Conn{{a, b}, {b, a}} {
		both.Go(func() {
			defer end()
			_ = s.copyMessages(ctx, way[1], way[0]) // the pair ends for any reason
		})
	}
	both.Wait()
	_ = a.Close()
	_ = b.Close()
}

var errUnsealed = errors.New("message is not sealed")
