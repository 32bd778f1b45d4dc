//go:build unix

package client

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sys/unixsock/netsock"
)

// begin opens a stream by hand, as is done before a client exists, and returns a client that continues it.
func begin(t *testing.T, f *fake, uri string) *Client {
	t.Helper()
	conn, err := netsock.Dial(f.dirs.Socket())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: longterm\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Key: bG9uZ3Rlcm0gYXR0YWNoZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n", uri); err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 1) // a part of the answer has come
	if _, err := io.ReadFull(conn, first); err != nil {
		t.Fatal(err)
	}
	answer := struct {
		io.Reader
		io.Closer
	}{io.MultiReader(&oneByte{first}, conn), conn}
	c := New(Options{Dirs: f.dirs, Begun: &PrefetchedRequest{Method: "GET", URI: uri, Answer: answer, Conn: conn}})
	t.Cleanup(c.Close)
	return c
}

type oneByte struct{ b []byte }

func (o *oneByte) Read(p []byte) (int, error) {
	n := copy(p, o.b)
	if o.b = o.b[n:]; n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// A stream opened before a client existed is continued: it is not requested again, nothing is lost, and input goes into
// it. One for another purpose is closed.
func TestPrefetchedStream_Continued(t *testing.T) {
	const uri = api.Version + "/sessions/s/attach?cols=80&rows=24&screen=own"
	gone := make(chan error, 10)
	f, _ := newFake(t, upgrades(t, func(ws *websocket.Conn) {
		say := func(kind int, text string) { _ = ws.WriteMessage(kind, []byte(text)) } // one that is given up may be gone
		say(websocket.TextMessage, `{"cols":80,"rows":24}`)
		say(websocket.BinaryMessage, "hello")
		for {
			_, typed, err := ws.ReadMessage()
			if err != nil {
				gone <- err
				return
			}
			say(websocket.BinaryMessage, "<"+string(typed)+">")
		}
	}))
	try := func(c *Client, rows int, begun bool) {
		t.Helper()
		st, err := c.Session("s").Attach(testContext(t), StreamOptions{Cols: 80, Rows: rows, OwnScreen: true})
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		if st.Begun != begun {
			t.Errorf("%d rows: begun %v", rows, st.Begun)
		}
		if _, info, err := st.Read(); err != nil || info == nil || info.Cols != 80 {
			t.Errorf("%+v, %v", info, err)
		}
		if draw, _, err := st.Read(); err != nil || string(draw) != "hello" {
			t.Errorf("%q, %v", draw, err)
		}
		if err := st.Type([]byte("k")); err != nil {
			t.Error(err)
		}
		if draw, _, err := st.Read(); err != nil || string(draw) != "<k>" {
			t.Errorf("%q, %v", draw, err)
		}
	}
	c := begin(t, f, uri)
	try(c, 24, true)
	<-gone
	if n := len(f.requests()); n != 1 {
		t.Errorf("asked %d times", n)
	}
	try(c, 24, false) // it is opened once
	<-gone

	c = begin(t, f, uri)
	try(c, 25, false)
	<-gone // the stream
	<-gone // and the prefetched one, while the client exists
	if n := len(f.requests()); n != 4 {
		t.Errorf("asked %d times", n)
	}
}

// An answer that is no stream is returned as it is.
func TestPrefetchedStream_ErrorReturned(t *testing.T) {
	const uri = api.Version + "/sessions/s/attach?cols=80&rows=24&screen=own"
	f, _ := newFake(t, refuses(api.Errorf(api.CodeNotFound, "there is no session s")))
	_, err := begin(t, f, uri).Session("s").Attach(testContext(t), StreamOptions{Cols: 80, Rows: 24, OwnScreen: true})
	if e := (*api.Error)(nil); !errors.As(err, &e) || e.Code != api.CodeNotFound {
		t.Errorf("%v", err)
	}
	if n := len(f.requests()); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// A stream whose daemon died as it was opened is opened again with the next daemon, however often that happens.
//
// FEATURES: R90
func TestStreamOpenedAgain(t *testing.T) {
	const uri = api.Version + "/sessions/s/attach?cols=80&rows=24&screen=own"
	var died atomic.Int32 // the fake's connections are served on separate goroutines
	dies := func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		if died.Add(1) == 1 { // it had started to answer
			_, _ = io.WriteString(conn, "H")
		}
		_ = conn.Close()
	}
	lives := upgrades(t, func(ws *websocket.Conn) { write(t, ws, websocket.BinaryMessage, "hello") })
	f, _ := newFake(t, dies, dies, dies, dies, dies, lives)
	st, err := begin(t, f, uri).Session("s").Attach(testContext(t), StreamOptions{Cols: 80, Rows: 24, OwnScreen: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if draw, _, err := st.Read(); err != nil || string(draw) != "hello" {
		t.Errorf("%q, %v", draw, err)
	}
}
