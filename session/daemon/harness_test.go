//go:build unix

package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/hosts"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/paths"
)

// running is a daemon of a test, with keepers that are processes of the test binary.
type running struct {
	t      *testing.T
	dirs   paths.Dirs
	http   *http.Client
	ended  chan error
	cancel context.CancelFunc
	label  string // of the calling agent; "": a user calls
}

// as returns the same daemon with requests of an agent.
func (r *running) as(label string) *running {
	agent := *r
	agent.label = label
	return &agent
}

// testDirs are a daemon's directories, with paths short enough for sockets.
func testDirs(t *testing.T) paths.Dirs {
	t.Helper()
	dir, err := os.MkdirTemp("", "d")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return paths.Dirs{Run: filepath.Join(dir, "r"), State: filepath.Join(dir, "s"), Config: filepath.Join(dir, "c")}
}

// startDaemon runs a daemon in this process until it is stopped or the test ends.
func startDaemon(t *testing.T, dirs paths.Dirs, set ...func(*Config)) *running {
	t.Helper()
	r := &running{t: t, dirs: dirs, ended: make(chan error, 1)}
	r.http = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", dirs.Socket())
	}}}
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	log, err := os.OpenFile(filepath.Join(t.TempDir(), "daemon.log"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		c := Config{
			Dirs: dirs, Build: "test", Log: slog.New(slog.NewTextHandler(log, nil)),
			KeeperArgv: func(key string, _ bool) []string {
				return []string{testKeeper, key, dirs.KeeperSocket(key), dirs.KeeperLock(key), dirs.KeeperStateLock(key)}
			},
			LinkArgv: func(hosts.Target, string) []string { return []string{"no link"} },
		}
		for _, f := range set {
			f(&c)
		}
		r.ended <- Run(ctx, c)
	}()
	t.Cleanup(func() {
		cancel()
		<-over
		r.http.CloseIdleConnections()
		if b, err := os.ReadFile(log.Name()); t.Failed() && err == nil {
			t.Logf("the daemon's log:\n%s", b)
		}
		_ = log.Close()
	})
	r.awaitSocket(over)
	return r
}

// awaitSocket waits until the daemon serves.
func (r *running) awaitSocket(over <-chan struct{}) {
	r.t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for range 6000 {
		if c, err := net.Dial("unix", r.dirs.Socket()); err == nil {
			_ = c.Close()
			return
		}
		select {
		case <-look.C:
		case <-over:
			r.t.Fatalf("the daemon ended: %v", <-r.ended)
		}
	}
	r.t.Fatal("the daemon does not serve")
}

// answer is the response to a request.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// ask makes a request. body may be nil, raw bytes, or any value that becomes JSON.
func (r *running) ask(method, path string, body any) answer {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	var in io.Reader
	switch b := body.(type) {
	case nil:
	case []byte:
		in = bytes.NewReader(b)
	default:
		made, err := json.Marshal(b)
		if err != nil {
			r.t.Fatal(err)
		}
		in = bytes.NewReader(made)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://daemon"+api.Version+path, in)
	if err != nil {
		r.t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.label != "" {
		req.Header.Set(identity.Header, r.label)
	}
	resp, err := r.http.Do(req)
	if err != nil {
		r.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	a := answer{status: resp.StatusCode, header: resp.Header}
	if a.body, err = io.ReadAll(resp.Body); err != nil {
		r.t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

// get makes a request that has to succeed, and reads its answer.
func get[T any](r *running, method, path string, body any) (v T) {
	r.t.Helper()
	a := r.ask(method, path, body)
	if a.status != http.StatusOK {
		r.t.Fatalf("%s %s: %d %s", method, path, a.status, a.body)
	}
	if err := json.Unmarshal(a.body, &v); err != nil {
		r.t.Fatalf("%s %s: %v in %s", method, path, err, a.body)
	}
	return v
}
