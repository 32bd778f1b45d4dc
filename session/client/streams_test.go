//go:build unix

package client

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/sys/unixsock/netsock"
)

// servesStream opens the daemon's end of a stream.
func servesStream(t *testing.T, serve func(ws *websocket.Conn)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		up := websocket.Upgrader{}
		ws, err := up.Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer ws.Close()
		serve(ws)
	}
}

// writeMessage sends a message on a stream.
func writeMessage(t *testing.T, ws *websocket.Conn, kind int, text string) {
	if err := ws.WriteMessage(kind, []byte(text)); err != nil {
		t.Error(err)
	}
}

// closeNormally closes a stream as the daemon does when the session has ended.
func closeNormally(ws *websocket.Conn) {
	_ = ws.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""))
}

// TestAttach_ReadsDrawingAndInfos checks that an attached client reads drawing and infos in order, until the session's
// end.
func TestAttach_ReadsDrawingAndInfos(t *testing.T) {
	t.Parallel()
	f, c := newFakeDaemon(t, servesStream(t, func(ws *websocket.Conn) {
		writeMessage(t, ws, websocket.TextMessage, `{"cols":80,"rows":24,"offset":12,"state":"running"}`)
		writeMessage(t, ws, websocket.BinaryMessage, "\x1b[Hhello")
		writeMessage(t, ws, websocket.TextMessage, `{"state":"exited","exit_code":3,"ended":true}`)
		closeNormally(ws)
	}))
	st, err := c.Session("a/b").Attach(testContext(t), StreamOptions{
		Cols: 80, Rows: 24, ReadOnly: true, Size: "largest", OwnScreen: true, History: 100, AlreadyShown: true, Inside: []string{"me"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if got, want := f.requests()[0].line, "GET "+api.Version+"/sessions/a%2Fb/attach?again=true&cols=80&history=100&inside=me&read_only=true&rows=24&screen=own&size=largest"; got != want {
		t.Errorf("got request %s, want %s", got, want)
	}
	if draw, info, err := st.Read(); err != nil || draw != nil || info.Cols != 80 || info.Offset != 12 {
		t.Errorf("got drawing %q, info %+v, error %v", draw, info, err)
	}
	if draw, info, err := st.Read(); err != nil || string(draw) != "\x1b[Hhello" || info != nil {
		t.Errorf("got drawing %q, info %+v, error %v", draw, info, err)
	}
	if _, info, err := st.Read(); err != nil || !info.Ended || *info.Code != 3 {
		t.Errorf("got info %+v, error %v", info, err)
	}
	if _, _, err := st.Read(); !IsSessionEnded(err) {
		t.Errorf("got error %v, want the session's end", err)
	}
}

// TestStream_SendsInOrder checks that input, sizes and acts are received in the order of the calls.
func TestStream_SendsInOrder(t *testing.T) {
	t.Parallel()
	type message struct {
		kind int
		text string
	}
	got := make(chan message, 3)
	_, c := newFakeDaemon(t, servesStream(t, func(ws *websocket.Conn) {
		for range 3 {
			kind, b, err := ws.ReadMessage()
			if err != nil {
				t.Error(err)
				break
			}
			got <- message{kind, string(b)}
		}
		closeNormally(ws)
	}))
	st, err := c.Session("s").Watch(testContext(t), StreamOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	paste := "p"
	for _, err := range []error{st.Type([]byte("\x1b[A\x00")), st.Resize(100, 30), st.Act(attach.Act{Paste: &paste})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := st.NextFrame(); !IsSessionEnded(err) {
		t.Fatal(err)
	}
	for _, want := range []message{{websocket.BinaryMessage, "\x1b[A\x00"}, {websocket.TextMessage, `{"cols":100,"rows":30}`}, {websocket.TextMessage, `{"paste":"p"}`}} {
		if m := <-got; m != want {
			t.Errorf("got message %+v, want %+v", m, want)
		}
	}
}

// TestWatch_ReadsFrames checks that a watcher reads frames. An invalid one is an error, not the session's end.
func TestWatch_ReadsFrames(t *testing.T) {
	t.Parallel()
	frame, err := json.Marshal(attach.Frame{State: "running"})
	if err != nil {
		t.Fatal(err)
	}
	_, c := newFakeDaemon(t, servesStream(t, func(ws *websocket.Conn) {
		writeMessage(t, ws, websocket.TextMessage, string(frame))
		writeMessage(t, ws, websocket.TextMessage, "rubbish")
		writeMessage(t, ws, websocket.TextMessage, "rubbish")
		_ = ws.NetConn().Close() // the daemon died
	}))
	st, err := c.Session("s").Watch(testContext(t), StreamOptions{Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if f, err := st.NextFrame(); err != nil || f.State != "running" {
		t.Errorf("got frame %+v, error %v", f, err)
	}
	if _, err := st.NextFrame(); err == nil || !strings.Contains(err.Error(), "watch: invalid") || IsSessionEnded(err) {
		t.Error(err)
	}
	if _, _, err := st.Read(); err == nil || !strings.Contains(err.Error(), "attach: invalid") || IsSessionEnded(err) {
		t.Error(err)
	}
	if _, err := st.NextFrame(); err == nil || IsSessionEnded(err) {
		t.Error(err)
	}
}

// TestStream_Rejected checks that a rejected stream returns the reason, in the API's form if possible.
func TestStream_Rejected(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		code   api.Code
	}{
		{"no such session", rejects(api.Errorf(api.CodeNotFound, "no session s")), api.CodeNotFound},
		{"a page", replies(403, "text/html", "<html>"), api.CodeInternal},
		{"no stream", replies(200, "application/json", "{}"), api.CodeUnavailable},
		{"the daemon dies each time", disconnects(""), api.CodeUnavailable},
	} {
		f, client := newFakeDaemon(t, c.answer)
		if st, err := client.Session("s").Attach(testContext(t), StreamOptions{}); errorCode(err) != c.code || st != nil || (len(f.requests()) != 1) != strings.Contains(c.name, "each time") {
			t.Errorf("%s: got error %v after %d requests", c.name, err, len(f.requests()))
		}
	}
	c := newClient(t, newDirs(t), nil)
	if _, err := c.Session("s").Attach(testContext(t), StreamOptions{}); errorCode(err) != api.CodeUnavailable || !strings.Contains(err.Error(), "no daemon") {
		t.Errorf("without a daemon: got error %v", err)
	}
}

// TestStream_EndsWithContext checks that a stream ends with its context, both during the opening and a read.
func TestStream_EndsWithContext(t *testing.T) {
	t.Parallel()
	answer, asked, gone := hangs()
	_, c := newFakeDaemon(t, answer)
	ctx, cancel := context.WithCancel(testContext(t))
	go func() {
		<-asked
		cancel()
	}()
	if _, err := c.Session("s").Attach(ctx, StreamOptions{}); err != context.Canceled {
		t.Errorf("opening: got error %v", err)
	}
	<-gone

	left := make(chan error, 1)
	_, c = newFakeDaemon(t, servesStream(t, func(ws *websocket.Conn) {
		_, _, err := ws.ReadMessage()
		left <- err
	}))
	ctx, cancel = context.WithCancel(testContext(t))
	st, err := c.Session("s").Watch(ctx, StreamOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := st.NextFrame(); err == nil {
		t.Error("got a frame after the end of the context")
	}
	if err := <-left; err == nil {
		t.Error("the daemon's end of the stream is still open")
	}
	_ = st.Close()
}

// TestStreams_SendCaller checks that a stream has the headers that identify the caller, as other requests do.
func TestStreams_SendCaller(t *testing.T) {
	t.Parallel()
	serve := servesStream(t, closeNormally)
	said := make(chan http.Header, 2)
	_, c := newFakeDaemon(t, func(w http.ResponseWriter, r *http.Request) {
		said <- r.Header
		serve(w, r)
	})
	o := c.options
	o.Agent, o.Token, o.From = "an agent", "a token", "a host"
	named := New(o)
	t.Cleanup(named.Close)
	for _, open := range []func(context.Context, StreamOptions) (*Stream, error){named.Session("s").Attach, named.Session("s").Watch} {
		st, err := open(testContext(t), StreamOptions{})
		if err != nil {
			t.Fatal(err)
		}
		_ = st.Close()
		h := <-said
		if h.Get(identity.Header) != o.Agent || h.Get(identity.TokenHeader) != o.Token || h.Get(identity.HostHeader) != o.From {
			t.Errorf("got headers %v", h)
		}
	}
}

// socketHost is a RemoteHost whose daemon is a fakeDaemon's socket.
type socketHost struct{ dirs paths.Dirs }

func (w socketHost) Dial(context.Context) (net.Conn, error)   { return netsock.Dial(w.dirs.Socket()) }
func (socketHost) Ensure(context.Context) error               { return nil }
func (socketHost) Login(context.Context) (p Login, err error) { return p, nil }

// TestFollow_SurvivesLostConnection checks that output of a remote host is followed across a lost connection from the
// last offset. A rejection is returned.
func TestFollow_SurvivesLostConnection(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	_, c := newFakeDaemon(t, func(w http.ResponseWriter, r *http.Request) {
		n := asked.Add(1)
		if n == 2 || n == 4 {
			code := map[int32]api.Code{2: api.CodeUnavailable, 4: api.CodeDenied}[n]
			rejects(api.Errorf(code, "no"))(w, r)
			return
		}
		if want := map[int32]string{1: "0", 3: "2"}[n]; r.URL.Query().Get("from") != want {
			t.Errorf("request %d: from %s", n, r.URL.Query().Get("from"))
		}
		w.Header().Set("Longterm-From", map[int32]string{1: "0", 3: "2"}[n])
		w.Header().Set("Longterm-Next", map[int32]string{1: "2", 3: "4"}[n])
		_, _ = w.Write([]byte("ab"))
	})
	o := c.options
	o.Remote, o.KeeperArgv = socketHost{o.Dirs}, nil
	far := New(o)
	t.Cleanup(far.Close)
	got := ""
	err := far.Session("s").Follow(testContext(t), 0, func(o api.Output) error {
		got += string(o.Data)
		return nil
	})
	if errorCode(err) != api.CodeDenied || got != "abab" {
		t.Errorf("got %q, error %v", got, err)
	}
}
