//go:build unix

package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/sys/unixsock/netsock"
)

// fakeDaemon is a daemon with one handler for each request; the last one handles all further requests.
type fakeDaemon struct {
	t    *testing.T
	dirs paths.Dirs

	mu       sync.Mutex
	handlers []http.HandlerFunc
	received []receivedRequest // requests so far
}

// receivedRequest is a request to the fakeDaemon.
type receivedRequest struct{ line, body, contentType string }

// newDirs returns directories of a test, with names short enough for a socket.
func newDirs(t *testing.T) paths.Dirs {
	t.Helper()
	dir, err := os.MkdirTemp("", "lt")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	dirs := paths.Dirs{Run: dir + "/run", State: dir + "/state", Config: dir}
	if err := dirs.Make(); err != nil {
		t.Fatal(err)
	}
	return dirs
}

// newFakeDaemon serves a daemon's socket. The client starts no keeper.
func newFakeDaemon(t *testing.T, answers ...http.HandlerFunc) (*fakeDaemon, *Client) {
	t.Helper()
	f := &fakeDaemon{t: t, dirs: newDirs(t), handlers: answers}
	f.serve()
	return f, newClient(t, f.dirs, nil)
}

// newClient returns a client of the daemon in dirs.
func newClient(t *testing.T, dirs paths.Dirs, keeper func() []string) *Client {
	t.Helper()
	c := New(Options{Dirs: dirs, KeeperArgv: keeper, Build: func() string { return "test" }})
	t.Cleanup(c.Close)
	return c
}

// serve serves the daemon's socket until the end of the test.
func (f *fakeDaemon) serve() {
	l, err := netsock.Listen(f.dirs.Socket())
	if err != nil {
		f.t.Error(err)
		return
	}
	srv := &http.Server{Handler: f}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l)
	}()
	f.t.Cleanup(func() {
		_ = srv.Close()
		<-done
	})
}

func (f *fakeDaemon) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	f.mu.Lock()
	answer := f.handlers[min(len(f.received), len(f.handlers)-1)]
	f.received = append(f.received, receivedRequest{r.Method + " " + r.URL.RequestURI(), string(body), r.Header.Get("Content-Type")})
	f.mu.Unlock()
	answer(w, r)
}

// requests returns the requests so far.
func (f *fakeDaemon) requests() []receivedRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]receivedRequest(nil), f.received...)
}

// repliesJSON replies with v as JSON.
func repliesJSON(v any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
}

// replies with a status and a body.
func replies(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// rejects a request with an error of the API.
func rejects(e *api.Error) http.HandlerFunc {
	b, _ := json.Marshal(e)
	return replies(e.GetStatus(), "application/problem+json", string(b))
}

// isClosing rejects a request as a closing daemon does.
var isClosing = rejects(api.Errorf(api.CodeUnavailable, "it is being closed").Retryable())

// disconnects closes the connection after some bytes of a response.
func disconnects(sent string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(conn, sent)
		_ = conn.Close()
	}
}

// partialResponse returns the start of a response whose length is greater than its body.
func partialResponse(status int, body string) string {
	return fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nLongterm-From: 0\r\nLongterm-Next: 1000\r\nContent-Length: 1000\r\n\r\n%s", status, http.StatusText(status), body)
}

// hangs does not answer until the client disconnects. asked is closed at the request, gone at the disconnect.
func hangs() (answer http.HandlerFunc, asked, gone chan struct{}) {
	asked, gone = make(chan struct{}), make(chan struct{})
	return func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
		close(gone)
	}, asked, gone
}

// testContext returns a context that bounds a test.
func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// errorCode returns the code of an error of the API, or "".
func errorCode(err error) api.Code {
	var e *api.Error
	if !errors.As(err, &e) {
		return ""
	}
	return e.Code
}
