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

	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/daemon/httpapi"
	"github.com/longterm-dev/longterm/session/fairsched"
	"github.com/longterm-dev/longterm/session/sys"
)

// Tokens returns the tokens for access over TCP.
func (d *Daemon) Tokens() *apitoken.Store { return d.tokens }

// tcpListener serves the API over TCP at the configured address.
type tcpListener struct {
	handler        http.Handler
	parseScheduler fairsched.Of // schedules the parsing of requests
	log            *slog.Logger

	mu      sync.Mutex // guards what follows
	addr    string     // last configured address
	problem string     // why it is not listened on
	ln      net.Listener
	srv     *http.Server
}

// setAddress listens on one address, or on none if empty. A failed listen is retried.
func (t *tcpListener) setAddress(addr string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if addr == t.addr && t.problem == "" {
		return
	}
	if t.srv != nil {
		t.log.Info("no longer serving HTTP", "address", t.ln.Addr().String())
		_ = t.srv.Close()
		t.srv, t.ln = nil, nil
	}
	t.addr = addr
	if addr == "" {
		t.problem = ""
		return
	}
	ln, err := listenTCP(addr)
	if err != nil {
		if t.problem != err.Error() { // once
			t.log.Error("HTTP is not served", "address", addr, "err", err)
		}
		t.problem = err.Error()
		return
	}
	t.problem, t.ln = "", ln
	t.srv = &http.Server{
		Handler: t.handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(t.log.Handler(), slog.LevelWarn),
	}
	t.log.Info("serving HTTP", "address", ln.Addr().String(), "loopback", apitoken.Loopback(ln.Addr().String()))
	most, _, err := sys.DescriptorLimit()
	if err != nil {
		t.log.Warn("few connections are taken", "err", err)
		most = fallbackDescriptors
	}
	go func(srv *http.Server) { // ends with the server
		if err := srv.Serve(fairsched.Listen(srv, ln, t.parseScheduler, httpapi.OverloadedAnswer(), most)); !errors.Is(err, http.ErrServerClosed) {
			t.log.Error("HTTP", "err", err)
		}
	}(t.srv)
}

// fallbackDescriptors is the assumed limit if the system reports none.
const fallbackDescriptors = 256

// listenTCP listens on HOST:PORT. Without a host it uses loopback, to avoid unintended exposure.
func listenTCP(addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("http.listen: %w; use an address with a port, for example 127.0.0.1:7718", err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.Listen("tcp", net.JoinHostPort(host, port))
}

// address returns the listening address, or why it does not listen.
func (t *tcpListener) address() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.ln != nil:
		return t.ln.Addr().String()
	case t.problem != "":
		return "none: " + t.problem
	}
	return ""
}

// stopTCPTime bounds how long open requests may take when the listener closes.
const stopTCPTime = time.Second

func (t *tcpListener) close() {
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
