//go:build unix

package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/access"
	"github.com/longterm-dev/longterm/session/daemon/httpapi"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/session/turns"
)

// Tokens are those who may come in over TCP.
func (d *Daemon) Tokens() *access.Store { return d.tokens }

// tcpDoor serves the API over TCP where the configuration wants that, and follows it.
type tcpDoor struct {
	handler http.Handler
	reading turns.Of // whose turn it is to have a request parsed
	log     *slog.Logger

	mu     sync.Mutex // guards what follows
	wanted string     // address of the configuration that was looked at last
	failed string     // why it is not listened on
	ln     net.Listener
	srv    *http.Server
}

// follow listens on an address and no other; empty: on none. What cannot be had is tried again.
func (t *tcpDoor) follow(addr string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if addr == t.wanted && t.failed == "" {
		return
	}
	if t.srv != nil {
		t.log.Info("no longer serving HTTP", "address", t.ln.Addr().String())
		_ = t.srv.Close()
		t.srv, t.ln = nil, nil
	}
	t.wanted = addr
	if addr == "" {
		t.failed = ""
		return
	}
	ln, err := listenTCP(addr)
	if err != nil {
		if t.failed != err.Error() { // once
			t.log.Error("HTTP is not served", "address", addr, "err", err)
		}
		t.failed = err.Error()
		return
	}
	t.failed, t.ln = "", ln
	t.srv = &http.Server{
		Handler: t.handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(t.log.Handler(), slog.LevelWarn),
	}
	t.log.Info("serving HTTP", "address", ln.Addr().String(), "loopback", access.Loopback(ln.Addr().String()))
	most, _, err := sys.DescriptorLimit()
	if err != nil {
		t.log.Warn("few connections are taken", "err", err)
		most = leastDescriptors
	}
	go func(srv *http.Server) { // ends with the server
		if err := srv.Serve(turns.Listen(srv, ln, t.reading, httpapi.Crowded(), most)); !errors.Is(err, http.ErrServerClosed) {
			t.log.Error("HTTP", "err", err)
		}
	}(t.srv)
}

// leastDescriptors is how many a process has where nobody says.
const leastDescriptors = 256

// listenTCP listens on HOST:PORT; without a host only on loopback, as nobody meant the whole world by that.
func listenTCP(addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("http.listen: %w; give an address with a port, as in 127.0.0.1:7718", err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.Listen("tcp", net.JoinHostPort(host, port))
}

// address is where it listens, and what keeps it from doing so.
func (t *tcpDoor) address() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.ln != nil:
		return t.ln.Addr().String()
	case t.failed != "":
		return "none: " + t.failed
	}
	return ""
}

// stopTCPTime bounds how long requests under way may take at the end.
const stopTCPTime = time.Second

func (t *tcpDoor) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.srv == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTCPTime)
	defer cancel()
	if t.srv.Shutdown(ctx) != nil {
		_ = t.srv.Close()
	}
	t.srv, t.ln = nil, nil
}
