package relay

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/longterm-dev/longterm/session/web"
)

type at struct {
	t *testing.T
	*Server
	url string
}

func start(t *testing.T) *at {
	t.Helper()
	s := New()
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	return &at{t, s, "ws" + strings.TrimPrefix(srv.URL, "http") + "/relay/"}
}

// try opens a socket; headers are name and value.
func (a *at) try(path string, protocols []string, headers ...string) (*websocket.Conn, int) {
	a.t.Helper()
	h := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	d := websocket.Dialer{Subprotocols: append([]string{Protocol}, protocols...)}
	ws, resp, err := d.DialContext(a.t.Context(), a.url+path, h)
	if err != nil && resp == nil {
		a.t.Fatal(err)
	}
	if err != nil {
		return nil, resp.StatusCode
	}
	a.t.Cleanup(func() { _ = ws.Close() })
	return ws, http.StatusSwitchingProtocols
}

const owner = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

func (a *at) host(secret string) *websocket.Conn {
	a.t.Helper()
	ws, code := a.try("host", nil, "Authorization", "Bearer "+secret)
	if ws == nil {
		a.t.Fatalf("host: %d", code)
	}
	return ws
}

func (a *at) join(room string) *websocket.Conn {
	a.t.Helper()
	ws, code := a.try("join", []string{roomPrefix + room})
	if ws == nil {
		a.t.Fatalf("join: %d", code)
	}
	return ws
}

func (a *at) told(ws *websocket.Conn) HostNotice {
	a.t.Helper()
	var v HostNotice
	if err := ws.ReadJSON(&v); err != nil {
		a.t.Fatal(err)
	}
	return v
}

func (a *at) closed(ws *websocket.Conn, code int) {
	a.t.Helper()
	for {
		_, _, err := ws.ReadMessage()
		var c *websocket.CloseError
		if errors.As(err, &c) && c.Code == code {
			return
		}
		if err != nil {
			a.t.Errorf("%v, not closed with %d", err, code)
			return
		}
	}
}

// pair is a reader and the host's socket for it.
func (a *at) pair(host *websocket.Conn, secret string) (reader, its *websocket.Conn) {
	a.t.Helper()
	reader = a.join(Room(secret))
	its, code := a.try("serve", nil, "Authorization", "Bearer "+secret, ReaderHeader, a.told(host).Reader)
	if its == nil {
		a.t.Fatalf("serve: %d", code)
	}
	return reader, its
}

func (a *at) passes(from, to *websocket.Conn, message []byte) {
	a.t.Helper()
	sent := make(chan error)
	go func() { sent <- from.WriteMessage(websocket.BinaryMessage, message) }()
	kind, got, err := to.ReadMessage()
	if err := errors.Join(err, <-sent); err != nil || kind != websocket.BinaryMessage || !bytes.Equal(got, message) {
		a.t.Errorf("%d of %d bytes, kind %d, %v", len(got), len(message), kind, err)
	}
}

// TestRelay checks that readers and their host get each other's messages unchanged, and no other reader does. The room
// belongs to its host alone.
//
// FEATURES: R111
func TestRelay(t *testing.T) {
	a := start(t)
	host := a.host(owner)
	if got := a.told(host); got.Room != Room(owner) {
		t.Fatalf("%+v", got)
	}
	one, one2 := a.pair(host, owner)
	two, two2 := a.pair(host, owner)
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	for _, m := range [][]byte{[]byte("x"), {}, large} {
		a.passes(one, one2, m)
		a.passes(two2, two, m)
		a.passes(one2, one, m)
	}
	_ = one.Close()
	a.closed(one2, websocket.CloseGoingAway)
	a.passes(two, two2, []byte("still there"))

	other := a.host("another secret, long enough")
	if got := a.told(other); got.Room == Room(owner) {
		t.Error("two secrets have the same room")
	}
	if ws, _ := a.try("serve", nil, "Authorization", "Bearer another secret, long enough", ReaderHeader, "x"); ws != nil {
		a.closed(ws, CloseNoHost)
	}
	again := a.host(owner) // the daemon's connection broke unseen
	a.closed(host, websocket.CloseGoingAway)
	if got := a.told(again); got.Room != Room(owner) {
		t.Errorf("%+v", got)
	}
	third, third2 := a.pair(again, owner)
	a.passes(third, third2, []byte("to the new one"))
}

// TestRelayRefuses checks that messages that are not sealed, too large, too frequent, of another site or for a missing
// host are not forwarded.
//
// FEATURES: R111
func TestRelayRefuses(t *testing.T) {
	a := start(t)
	a.MaxRooms, a.limit = 1, web.NewLimit(2*maxReaders+20, time.Hour, 10)
	a.closed(a.join(Room(owner)), CloseNoHost)
	a.closed(a.host("short"), CloseBad)
	host := a.host(owner)
	a.told(host)
	a.closed(a.host("another secret, long enough"), CloseFull)
	for what, message := range map[string]func(*websocket.Conn) error{
		"text": func(ws *websocket.Conn) error { return ws.WriteMessage(websocket.TextMessage, []byte("{}")) },
		"too large": func(ws *websocket.Conn) error {
			return ws.WriteMessage(websocket.BinaryMessage, make([]byte, MaxMessage+1))
		},
	} {
		reader, its := a.pair(host, owner)
		go func() { _ = message(reader) }() // it may be disconnected already
		if _, b, err := its.ReadMessage(); err == nil {
			t.Errorf("%s: %d bytes arrived", what, len(b))
		}
	}
	if ws, code := a.try("join", []string{roomPrefix + Room(owner)}, "Origin", "https://evil.example"); ws != nil || code != http.StatusForbidden {
		t.Errorf("a page of another site: %d", code)
	}
	for range maxReaders {
		a.pair(host, owner)
	}
	a.closed(a.join(Room(owner)), CloseFull)
	for range 2*maxReaders + 20 {
		if _, code := a.try("host", nil); code == http.StatusTooManyRequests {
			return
		}
	}
	t.Error("an address may knock as often as it likes")
}
