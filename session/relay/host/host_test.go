package host

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/longterm-dev/longterm/session/relay"
	"github.com/longterm-dev/longterm/session/relay/sealed"
)

// TestNew checks that a relay is named by an address at which browsers open sealed links.
func TestNew(t *testing.T) {
	for at, ok := range map[string]bool{
		"https://relay.example.org": true, "https://relay.example.org/below": true, "http://127.0.0.1:7720": true, "http://localhost:1": true,
		"http://relay.example.org": false, "ftp://x": false, "": false, "https://u:p@x": false, "https://x/?a": false, "https://x/#a": false, "relay.example.org": false,
	} {
		s, err := New("t", at)
		if (err == nil) != ok {
			t.Errorf("%q: %v", at, err)
		}
		if ok && (!strings.Contains(s.Link(), "/#relay="+relay.Room(s.Owner)+"."+s.Key) || strings.Contains(s.Link(), s.Owner)) {
			t.Errorf("%s", s.Link())
		}
	}
}

// page is a reader without a browser.
type page struct {
	t  *testing.T
	ws *websocket.Conn
	ch *sealed.Channel
}

// share serves a handler through a relay.
func share(t *testing.T, h http.Handler) Share {
	t.Helper()
	srv := httptest.NewServer(relay.New())
	t.Cleanup(srv.Close)
	s, err := New("t", srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancelCause(t.Context())
	ready, over := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(over)
		(&Host{Share: s, Serve: h, Log: slog.New(slog.DiscardHandler)}).Run(ctx, func(err error) { ready <- err })
	}()
	t.Cleanup(func() {
		end(ErrEnded)
		<-over
	})
	if err := <-ready; err != nil {
		t.Fatal(err)
	}
	return s
}

func join(t *testing.T, s Share) *page {
	t.Helper()
	room := relay.Room(s.Owner)
	d := websocket.Dialer{Subprotocols: []string{relay.Protocol, "room." + room}}
	ws, _, err := d.DialContext(t.Context(), "ws"+strings.TrimPrefix(s.Relay, "http")+"relay/join", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ws.Close() })
	mine := []byte("sixteen bytes ab")
	if err := ws.WriteMessage(websocket.BinaryMessage, mine); err != nil {
		t.Fatal(err)
	}
	_, theirs, err := ws.ReadMessage()
	if err != nil {
		t.Fatal(err)
	}
	key, err := base64.RawURLEncoding.DecodeString(s.Key)
	if err != nil {
		t.Fatal(err)
	}
	ch, err := sealed.Page(key, room, mine, theirs)
	if err != nil {
		t.Fatal(err)
	}
	return &page{t, ws, ch}
}

func (p *page) hear(kind byte) []byte {
	p.t.Helper()
	for {
		_, b, err := p.ws.ReadMessage()
		if err == nil {
			b, err = p.ch.Open(b)
		}
		if err != nil {
			p.t.Fatalf("no %c: %v", kind, err)
		}
		if b[0] == kind {
			return b[1:]
		}
	}
}

func (p *page) say(text string) []byte {
	p.t.Helper()
	b := p.ch.Seal(nil, []byte(text))
	if err := p.ws.WriteMessage(websocket.BinaryMessage, b); err != nil {
		p.t.Fatal(err)
	}
	return b
}

// TestReader checks that a reader's requests are those of the page, a few at a time, and that a repeated message ends
// the connection.
//
// FEATURES: R111
func TestReader(t *testing.T) {
	hold := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /web/me", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"name":"me"}`) })
	mux.HandleFunc("GET /v1/slow", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-hold:
			fmt.Fprint(w, strings.Repeat("x", 100_000))
		case <-r.Context().Done():
		}
	})
	mux.HandleFunc("/secret", func(http.ResponseWriter, *http.Request) { t.Error("another path was requested") })
	s := share(t, mux)
	p := join(t, s)
	if got := p.hear(kindWelcome); string(got) != `{"name":"me"}` {
		t.Errorf("%s", got)
	}
	status := func() int {
		var h responseHead
		if err := json.Unmarshal(p.hear(kindHead), &h); err != nil {
			t.Fatal(err)
		}
		p.hear(kindEnd)
		return h.Status
	}
	for _, path := range []string{"secret", "/secret", "v1", "http://elsewhere/v1/", "web/login"} {
		p.say(`q{"i":1,"m":"GET","p":"` + path + `"}`)
		if got := status(); got != http.StatusBadRequest {
			t.Errorf("%s: %d", path, got)
		}
	}
	for i := range maxRequests {
		p.say(fmt.Sprintf(`q{"i":%d,"m":"GET","p":"v1/slow"}`, i+10))
	}
	p.say(`q{"i":99,"m":"GET","p":"v1/slow"}`)
	if got := status(); got != http.StatusTooManyRequests {
		t.Errorf("one too many: %d", got)
	}
	for i := range maxRequests - 1 { // the last is answered
		p.say(fmt.Sprintf(`x{"i":%d}`, i+10))
	}
	close(hold)
	n := 0
	for n < 100_000 {
		b := p.hear(kindBody)
		if b[3] == byte(maxRequests+9) {
			n += len(b) - 4
		}
	}
	again := p.say(`q{"i":200,"m":"GET","p":"v1/slow"}`)
	if err := p.ws.WriteMessage(websocket.BinaryMessage, again); err != nil {
		t.Fatal(err)
	}
	for {
		if _, _, err := p.ws.ReadMessage(); err != nil {
			break
		}
	}
	other := join(t, s)
	other.hear(kindWelcome)
	if err := other.ws.WriteMessage(websocket.BinaryMessage, again); err != nil {
		t.Fatal(err)
	}
	for {
		if _, _, err := other.ws.ReadMessage(); err != nil {
			break
		}
	}
}

// TestReaderThatAsksForTooMuch checks that a reader that keeps exceeding its limit of running requests is notified and
// disconnected, and that others continue.
//
// FEATURES: R111
func TestReaderThatAsksForTooMuch(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /web/me", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"name":"me"}`) })
	mux.HandleFunc("GET /v1/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("GET /v1/quick", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "here") })
	s := share(t, mux)
	wild, other := join(t, s), join(t, s)
	wild.hear(kindWelcome)
	other.hear(kindWelcome)
	reads := func(id int) {
		t.Helper()
		other.say(fmt.Sprintf(`q{"i":%d,"m":"GET","p":"v1/quick"}`, id))
		if b := other.hear(kindBody); string(b[4:]) != "here" {
			t.Errorf("%q", b)
		}
		other.hear(kindEnd)
	}
	for i := range maxRequests + maxRefused {
		wild.say(fmt.Sprintf(`q{"i":%d,"m":"GET","p":"v1/slow"}`, i))
	}
	for range maxRefused {
		var h responseHead
		if err := json.Unmarshal(wild.hear(kindHead), &h); err != nil || h.Status != http.StatusTooManyRequests {
			t.Fatalf("%+v %v", h, err)
		}
	}
	reads(1)
	wild.say(`q{"i":1000,"m":"GET","p":"v1/slow"}`)
	var c closeNotice
	if err := json.Unmarshal(wild.hear(kindClosed), &c); err != nil || c.Code != relay.CloseFull {
		t.Errorf("%+v %v", c, err)
	}
	for {
		if _, _, err := wild.ws.ReadMessage(); err != nil {
			break
		}
	}
	reads(2)
}

// FuzzReader checks that any message of a reader with the key is served or ends the connection.
//
// FEATURES: R111
func FuzzReader(f *testing.F) {
	for _, m := range []string{``, `q`, `q{"i":1,"m":"GET","p":"v1/x"}`, `q{"i":1,"m":"\u0000","p":"v1/%zz"}`, `x{"i":1}`, `o`, `s{"t":"hello"}`, `q{"i":4294967296}`, "\x00"} {
		f.Add([]byte(m))
	}
	in := newInProcessServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/page" {
			http.Error(w, "none", http.StatusUnauthorized)
			return
		}
		_, _ = io.Copy(w, r.Body)
	}))
	f.Cleanup(in.close)
	f.Fuzz(func(t *testing.T, m []byte) {
		ctx, end := context.WithCancel(t.Context())
		r := &reader{h: &Host{server: in}, ctx: ctx, requestSlots: make(chan struct{}, maxRequests)}
		_ = r.handleMessage(m) // no response can be sent: it has no channel
		end()
		r.tasks.Wait()
	})
}
