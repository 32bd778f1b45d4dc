//go:build unix

package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/daemon/pagesocket"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/web/wire"
)

// dialPage opens a page's socket at a house, with a token if one is named.
func dialPage(t *testing.T, h *house, token string) *websocket.Conn {
	t.Helper()
	srv := httptest.NewServer(h.Handler())
	t.Cleanup(srv.Close)
	header := http.Header{}
	if token != "" {
		header.Set(identity.TokenHeader, token)
	}
	ws, resp, err := websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(srv.URL, "http")+api.Version+"/page", header)
	if err != nil {
		t.Fatalf("%v, %+v", err, resp)
	}
	t.Cleanup(func() { _ = ws.Close() })
	return ws
}

func sayTo(t *testing.T, ws *websocket.Conn, messages ...string) {
	t.Helper()
	for _, m := range messages {
		if err := ws.WriteMessage(websocket.TextMessage, []byte(m)); err != nil {
			t.Fatal(err)
		}
	}
}

// hear reads messages until one of a kind arrives.
func hear(t *testing.T, ws *websocket.Conn, kind string) (raw []byte) {
	t.Helper()
	for {
		_, b, err := ws.ReadMessage()
		if err != nil {
			t.Fatalf("no %s: %v", kind, err)
		}
		var m struct{ T string }
		if json.Unmarshal(b, &m) == nil && m.T == kind {
			return b
		}
	}
}

// TestPageOfEndedSessions checks that ended sessions are shown in their last state; a token for one of them shows only
// that.
//
// FEATURES: R83
func TestPageOfEndedSessions(t *testing.T) {
	h := openHouse(t, everySession)
	h.token(t, apitoken.Token{Name: "one", May: []string{"look"}, Session: ownID})
	for token, sessions := range map[string]int{"": 3, "one": 1} {
		ws := dialPage(t, h, token)
		sayTo(t, ws, `{"t":"hello"}`)
		var list struct{ List []api.Session }
		if err := json.Unmarshal(hear(t, ws, "sessions"), &list); err != nil || len(list.List) != sessions {
			t.Errorf("%q: %d sessions, %v", token, len(list.List), err)
		}
		sayTo(t, ws, `{"t":"sub","id":1,"s":"own"}`)
		var m wire.Mirror
		if _, err := m.Apply(hear(t, ws, "f"), map[int]wire.MirrorStyle{}); err != nil || m.State != "exited" || m.Lines[0].Text() != "printed by own" {
			t.Errorf("%q: %+v, %v", token, m, err)
		}
		sayTo(t, ws, `{"t":"sub","id":2,"s":"other"}`, `{"t":"key","id":1,"k":"a","q":1}`, `{"t":"key","id":9,"k":"a"}`)
		if token == "one" {
			if b := hear(t, ws, "gone"); !strings.Contains(string(b), `"not_found"`) || strings.Contains(string(b), otherID) {
				t.Errorf("%s", b)
			}
		}
		if b := hear(t, ws, "err"); !strings.Contains(string(b), `"q":1`) && !strings.Contains(string(b), `"id":9`) {
			t.Errorf("typing into a session that ended: %s", b)
		}
	}
}

// TestSecondHello checks that a page gets sessions and approvals once, however often it greets.
//
// FEATURES: R83
func TestSecondHello(t *testing.T) {
	h := openHouse(t, onlyOwn)
	ws := dialPage(t, h, "")
	for range 10 {
		sayTo(t, ws, `{"t":"hello"}`)
	}
	hear(t, ws, "approvals")
	for id := range 20 { // the work of a second one would have its turns in between
		sayTo(t, ws, fmt.Sprintf(`{"t":"sub","id":%d,"s":"none"}`, id+1))
		for told := ""; told != "gone"; {
			_, b, err := ws.ReadMessage()
			if err != nil {
				t.Fatal(err)
			}
			var m struct{ T string }
			if err := json.Unmarshal(b, &m); err != nil {
				t.Fatal(err)
			}
			if told = m.T; told == "hello" || told == "sessions" || told == "approvals" {
				t.Fatalf("sent again: %s", b)
			}
		}
	}
}

// TestFloodOfMessages checks that a peer that sends too much is disconnected; nothing counts before a greeting.
//
// FEATURES: R83
func TestFloodOfMessages(t *testing.T) {
	h := openHouse(t, onlyOwn)
	h.pages.Rate = 20
	ws := dialPage(t, h, "")
	sayTo(t, ws, `{"t":"sub","id":1,"s":"own"}`, `{"t":"hello"}`)
	hear(t, ws, "approvals")
	var closed *websocket.CloseError
	go func() { // ends when the socket does
		for ws.WriteMessage(websocket.TextMessage, []byte(`{"t":"ack","id":1,"n":1}`)) == nil {
		}
	}()
	for {
		_, b, err := ws.ReadMessage()
		if err == nil {
			if strings.Contains(string(b), `"t":"f"`) {
				t.Error("a message before the hello has an effect")
			}
			continue
		}
		if !errors.As(err, &closed) || closed.Code != pagesocket.CloseFlood {
			t.Errorf("%v", err)
		}
		return
	}
}
