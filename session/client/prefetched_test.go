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

// prefetchStream opens a stream before a client exists, and returns a client that continues it.
func prefetchStream(t *testing.T, f *fakeDaemon, uri string) *Client {
	t.Helper()
	conn, err := netsock.Dial(f.dirs.Socket())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: longterm\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Key: bG9uZ3Rlcm0gYXR0YWNoZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n", uri); err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 1) // a part of the response has arrived
	if _, err := io.ReadFull(conn, first); err != nil {
		t.Fatal(err)
	}
	answer := struct {
		io.Reader
		io.Closer
	}{io.MultiReader(&oneByteReader{first}, conn), conn}
	c := New(Options{Dirs: f.dirs, Prefetched: &PrefetchedRequest{Method: "GET", URI: uri, Response: answer, Conn: conn}})
	t.Cleanup(c.Close)
	return c
}

// oneByteReader returns one byte per read.
type oneByteReader struct{ b []byte }

func (o *oneByteReader) Read(p []byte) (int, error) {
	n := copy(p, o.b)
	if o.b = o.b[n:]; n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// TestPrefetchedStream_Continued checks that a stream opened before the client existed is continued: it is not
// requested again, and no data is lost in either direction. One for another purpose is closed.
func TestPrefetchedStream_Continued(t *testing.T) {
	t.Parallel()
	const uri = api.Version + "/sessions/s/attach?cols=80&rows=24&screen=own"
	gone := make(chan error, 10)
	f, _ := newFakeDaemon(t, servesStream(t, func(ws *websocket.Conn) {
		say := func(kind int, text string) { _ = ws.WriteMessage(kind, []byte(text)) } // fails if the client has closed the stream
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
		if st.IsPrefetched != begun {
			t.Errorf("%d rows: got IsPrefetched %v", rows, st.IsPrefetched)
		}
		if _, info, err := st.Read(); err != nil || info == nil || info.Cols != 80 {
			t.Errorf("got info %+v, error %v", info, err)
		}
		if draw, _, err := st.Read(); err != nil || string(draw) != "hello" {
			t.Errorf("got drawing %q, error %v", draw, err)
		}
		if err := st.Type([]byte("k")); err != nil {
			t.Error(err)
		}
		if draw, _, err := st.Read(); err != nil || string(draw) != "<k>" {
			t.Errorf("got drawing %q, error %v", draw, err)
		}
	}
	c := prefetchStream(t, f, uri)
	try(c, 24, true)
	<-gone
	if n := len(f.requests()); n != 1 {
		t.Errorf("got %d requests", n)
	}
	try(c, 24, false) // it is opened once
	<-gone

	c = prefetchStream(t, f, uri)
	try(c, 25, false)
	<-gone // the stream
	<-gone // and the prefetched one, while the client exists
	if n := len(f.requests()); n != 4 {
		t.Errorf("got %d requests", n)
	}
}

// TestPrefetchedStream_ErrorReturned checks that a response that is not a stream is returned as an error.
func TestPrefetchedStream_ErrorReturned(t *testing.T) {
	t.Parallel()
	const uri = api.Version + "/sessions/s/attach?cols=80&rows=24&screen=own"
	f, _ := newFakeDaemon(t, rejects(api.Errorf(api.CodeNotFound, "there is no session s")))
	_, err := prefetchStream(t, f, uri).Session("s").Attach(testContext(t), StreamOptions{Cols: 80, Rows: 24, OwnScreen: true})
	if e := (*api.Error)(nil); !errors.As(err, &e) || e.Code != api.CodeNotFound {
		t.Errorf("got error %v", err)
	}
	if n := len(f.requests()); n != 1 {
		t.Errorf("got %d requests", n)
	}
}

// TestStream_Reopened_AfterDaemonDied checks that a stream whose daemon died during the opening is opened again with
// the next daemon, however often that happens.
// FEATURES: R90
func TestStream_Reopened_AfterDaemonDied(t *testing.T) {
	t.Parallel()
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
	lives := servesStream(t, func(ws *websocket.Conn) { writeMessage(t, ws, websocket.BinaryMessage, "hello") })
	f, _ := newFakeDaemon(t, dies, dies, dies, dies, dies, lives)
	st, err := prefetchStream(t, f, uri).Session("s").Attach(testContext(t), StreamOptions{Cols: 80, Rows: 24, OwnScreen: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if draw, _, err := st.Read(); err != nil || string(draw) != "hello" {
		t.Errorf("got drawing %q, error %v", draw, err)
	}
}
