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

// fake is a daemon whose answers a test writes: one for each request, the last one for all
// that come after.
type fake struct {
	t    *testing.T
	dirs paths.Dirs

	mu      sync.Mutex
	answers []http.HandlerFunc
	asked   []request
}

// request is a request to the fake.
type request struct{ line, body, contentType string }

// newDirs are directories of a test's own, with a name short enough for a socket.
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

// newFake serves a daemon's socket. The client starts none.
func newFake(t *testing.T, answers ...http.HandlerFunc) (*fake, *Client) {
	t.Helper()
	f := &fake{t: t, dirs: newDirs(t), answers: answers}
	f.serve()
	return f, newClient(t, f.dirs, nil)
}

func newClient(t *testing.T, dirs paths.Dirs, keeper func() []string) *Client {
	t.Helper()
	c := New(Options{Dirs: dirs, KeeperArgv: keeper, Build: func() string { return "test" }})
	t.Cleanup(c.Close)
	return c
}

// serve starts to answer at the daemon's socket.
func (f *fake) serve() {
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

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	f.mu.Lock()
	answer := f.answers[min(len(f.asked), len(f.answers)-1)]
	f.asked = append(f.asked, request{r.Method + " " + r.URL.RequestURI(), string(body), r.Header.Get("Content-Type")})
	f.mu.Unlock()
	answer(w, r)
}

// requests are those that came.
func (f *fake) requests() []request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]request(nil), f.asked...)
}

// says answers with JSON.
func says(v any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
}

// writes answers with a status and a body as it is.
func writes(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// refuses answers with an error of the API.
func refuses(e *api.Error) http.HandlerFunc {
	b, _ := json.Marshal(e)
	return writes(e.GetStatus(), "application/problem+json", string(b))
}

// leaves refuses as a daemon does that is being closed.
var leaves = refuses(api.Errorf(api.CodeUnavailable, "it is being closed").Retryable())

// dies breaks the connection off after some bytes of an answer.
func dies(sent string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(conn, sent)
		_ = conn.Close()
	}
}

// partial is the beginning of an answer that promises more than it has.
func partial(status int, body string) string {
	return fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nLongterm-From: 0\r\nLongterm-Next: 1000\r\nContent-Length: 1000\r\n\r\n%s", status, http.StatusText(status), body)
}

// hangs answers nothing until the client disconnects. It reports the request and the disconnection.
func hangs() (answer http.HandlerFunc, asked, gone chan struct{}) {
	asked, gone = make(chan struct{}), make(chan struct{})
	return func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
		close(gone)
	}, asked, gone
}

// testContext bounds a test that would hang.
func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// codeOf returns the code of an error of the API, or "".
func codeOf(err error) api.Code {
	var e *api.Error
	if !errors.As(err, &e) {
		return ""
	}
	return e.Code
}
