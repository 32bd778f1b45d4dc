//go:build unix

package client

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/paths"
)

// newClosingDaemon returns a client of a daemon that rejects so many requests because it closes, and the number of
// requests.
func newClosingDaemon(t *testing.T, refusals int32) (*Client, *atomic.Int32) {
	t.Helper()
	dir := t.TempDir()
	dirs := paths.Dirs{Run: dir + "/run", State: dir, Config: dir}
	if err := dirs.Make(); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", dirs.Socket())
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) <= refusals {
			w.WriteHeader(http.StatusServiceUnavailable)
			_ = json.NewEncoder(w).Encode(api.Errorf(api.CodeUnavailable, "it is being closed"))
			return
		}
		_ = json.NewEncoder(w).Encode(api.Typed{Cursor: 7})
	})}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	return New(Options{Dirs: dirs, KeeperArgv: func() []string { return []string{"false"} }}), &asked
}

// TestType_RetriesWhileDaemonCloses checks that input with an id is retried, with pauses, while the daemon closes.
// FAULT: A23
func TestType_RetriesWhileDaemonCloses(t *testing.T) {
	t.Parallel()
	c, asked := newClosingDaemon(t, 6)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	began := time.Now()
	r, err := c.Session("s").Type(ctx, api.Input{Text: "x", ID: "id"})
	if err != nil || r.Cursor != 7 || asked.Load() != 7 {
		t.Errorf("got %+v, error %v after %d requests", r, err, asked.Load())
	}
	if took := time.Since(began); took < 50*time.Millisecond {
		t.Errorf("retried without a pause: took %v", took)
	}
	if _, err := c.Session("s").Type(ctx, api.Input{Text: "x"}); err != nil {
		t.Error(err)
	}
}

// TestType_WithoutID_NotRetried checks that input without an id is sent once: whether it was typed is unknown.
func TestType_WithoutID_NotRetried(t *testing.T) {
	t.Parallel()
	c, asked := newClosingDaemon(t, 1)
	if _, err := c.Session("s").Type(t.Context(), api.Input{Text: "x"}); !isUnavailable(err) || asked.Load() != 1 {
		t.Errorf("got error %v after %d requests", err, asked.Load())
	}
}
