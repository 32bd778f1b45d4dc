//go:build unix

package portopen

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/isolate"
)

func TestMain(m *testing.M) { os.Exit(isolate.Run(m)) }

// FEATURES: R128
func TestChoose(t *testing.T) {
	one := api.Port{Port: 3000, Address: "127.0.0.1"}
	for _, c := range []struct {
		name   string
		ports  []api.Port
		state  string
		wanted int
		err    string
	}{
		{"the only one", []api.Port{one, {Port: 3000, Address: "::1"}, {Unix: "/x"}}, "running", 0, ""},
		{"one of several", []api.Port{{Port: 80}, one}, "running", 3000, ""},
		{"several", []api.Port{{Port: 80}, one}, "running", 0, "several ports: 80, 3000"},
		{"none", []api.Port{{Unix: "/x"}}, "running", 0, "no open port"},
		{"another", []api.Port{one}, "running", 1, "no open port 1"},
		{"inside a sandbox", []api.Port{{Port: 3000, Inside: true}}, "running", 0, "inside its sandbox"},
		{"ended", nil, "exited", 0, "has ended"},
	} {
		p, err := Choose(&api.Session{Name: "web", State: c.state, Ports: c.ports}, c.wanted)
		if c.err == "" && (err != nil || *p != one) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: %+v, %v", c.name, p, err)
		}
	}
}

// FEATURES: R128
func TestURL(t *testing.T) {
	for _, c := range []struct {
		p    api.Port
		here int
		want string
	}{
		{api.Port{Port: 3000, Address: "0.0.0.0"}, 3000, "http://localhost:3000/"},
		{api.Port{Port: 3000, Address: "::1"}, 3000, "http://localhost:3000/"},
		{api.Port{Port: 3000, Address: "10.1.2.3"}, 3000, "http://10.1.2.3:3000/"},
		{api.Port{Port: 3000, Address: "fd00::1"}, 3000, "http://[fd00::1]:3000/"},
		{api.Port{Port: 3000, Address: "10.1.2.3"}, 41000, "http://localhost:41000/"},
		{api.Port{Port: 8443, Address: "::"}, 8443, "https://localhost:8443/"},
	} {
		if got := URL(&c.p, c.here); got != c.want {
			t.Errorf("%+v: %s, want %s", c.p, got, c.want)
		}
	}
}

// to returns a way to a test's server.
func to(addr string) Dial {
	return func(ctx context.Context) (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "tcp", addr) }
}

// TestTitle checks that the title is that of the server's own page, whatever the server sends.
//
// FEATURES: R128
func TestTitle(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<title>elsewhere</title>") }))
	defer elsewhere.Close()
	for want, handler := range map[string]http.HandlerFunc{
		"a & b": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "<html><TITLE lang=en>\n a &amp;\tb </title>")
		},
		"": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) },
		strings.Repeat("x", titleRunes): func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "<title>"+strings.Repeat("x", 9000)+"</title>")
		},
	} {
		srv := httptest.NewServer(handler)
		if got := Title(t.Context(), &api.Port{Port: 1}, to(srv.Listener.Addr().String())); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		srv.Close()
	}
	nonsense := serve(t, func(c net.Conn) { _, _ = io.WriteString(c, "\x00\x01 no HTTP at all\n") })
	if got := Title(t.Context(), &api.Port{Port: 1}, to(nonsense)); got != "" {
		t.Errorf("%q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	hangs := serve(t, func(c net.Conn) { cancel(); <-ctx.Done() })
	if got := Title(ctx, &api.Port{Port: 1}, to(hangs)); got != "" {
		t.Errorf("%q", got)
	}
}

// serve accepts connections, calls f with each, and returns the address.
func serve(t *testing.T, f func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); f(c) }()
		}
	}()
	return l.Addr().String()
}

// TestForward checks that a forwarded port is on loopback, passes both directions, and closes with its context.
//
// FEATURES: R128
func TestForward(t *testing.T) {
	far := serve(t, func(c net.Conn) {
		b, _ := io.ReadAll(c) // until the client has sent all
		_, _ = fmt.Fprintf(c, "got %s", b)
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	taken := listenerPort(t, serve(t, func(net.Conn) {}))
	f, err := Listen(ctx, to(far), taken, 0) // in use here
	if err != nil || f.Port == taken {
		t.Fatalf("%+v, %v", f, err)
	}
	if !f.l.Addr().(*net.TCPAddr).IP.IsLoopback() {
		t.Errorf("it listens at %v", f.l.Addr())
	}
	served := make(chan error, 1)
	go func() { served <- f.Serve(ctx) }()
	dial := func() *net.TCPConn {
		c, err := net.Dial("tcp", f.l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		return c.(*net.TCPConn)
	}
	c := dial()
	_, _ = io.WriteString(c, "hello")
	_ = c.CloseWrite()
	if b, err := io.ReadAll(c); string(b) != "got hello" {
		t.Errorf("%q, %v", b, err)
	}
	hangs := dial()
	cancel()
	if _, err := io.ReadAll(hangs); err != nil {
		t.Log(err) // closed or reset
	}
	if err := <-served; err != context.Canceled {
		t.Error(err)
	}
	if _, err := Listen(t.Context(), to(far), 1, taken); err == nil || !strings.Contains(err.Error(), "of this machine") {
		t.Errorf("a port in use: %v", err)
	}
	refused := func(context.Context) (net.Conn, error) { return nil, io.ErrUnexpectedEOF }
	if _, err := Listen(t.Context(), refused, 1, 0); err != io.ErrUnexpectedEOF {
		t.Errorf("a missing server: %v", err)
	}
}

func listenerPort(t *testing.T, addr string) int {
	t.Helper()
	a, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return a.Port
}
