//go:build unix

// Package portopen makes a server in a session reachable for the user's browser, for `longterm open`.
//
// Choose selects the port and URL returns its address. For a session of a remote host, a Forward listens on 127.0.0.1
// and passes each connection on to the server; it ends with its command. Servers may hang or send anything, so Title
// reads a limited part within a limited time.
package portopen

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/pattern"
)

// Choose returns the wanted TCP port of a session; 0: the only one.
func Choose(s *api.Session, wanted int) (*api.Port, error) {
	var found []*api.Port
	var numbers []string
	inside := ""
	for i := range s.Ports {
		p := &s.Ports[i]
		switch n := strconv.Itoa(p.Port); {
		case p.Port == 0 || wanted > 0 && p.Port != wanted:
		case p.Inside:
			inside = n
		case slices.Contains(numbers, n): // at another address
		default:
			found, numbers = append(found, p), append(numbers, n)
		}
	}
	what := "port"
	if wanted > 0 {
		what = fmt.Sprintf("port %d", wanted)
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, api.Errorf(api.CodeAmbiguous, "session %s has several ports: %s", s.Name, strings.Join(numbers, ", ")).
			WithHint("name one: `longterm open %s %s`", s.Name, numbers[0])
	case inside != "":
		return nil, api.Errorf(api.CodeUnavailable, "port %s of session %s is inside its sandbox: nothing outside can connect to it", inside, s.Name).
			WithHint("run the server in a session without a sandbox, or with one that shares the network")
	case s.State != "running" && len(s.LeftoverPIDs) == 0:
		return nil, api.Errorf(api.CodeEnded, "session %s has ended: it has no %s", s.Name, what)
	}
	wait := "any"
	if wanted > 0 {
		wait = strconv.Itoa(wanted)
	}
	return nil, api.Errorf(api.CodeNotFound, "session %s has no open %s", s.Name, what).
		WithHint("`longterm wait %s --for port=%s` waits for it", s.Name, wait)
}

// URL returns the address of a server at a port of this machine.
func URL(p *api.Port, port int) string {
	scheme := "http"
	if p.Port == 443 || p.Port == 8443 {
		scheme = "https"
	}
	host := p.Address
	if ip, err := netip.ParseAddr(host); err != nil || ip.IsLoopback() || ip.IsUnspecified() || port != p.Port {
		host = "localhost"
	}
	return scheme + "://" + net.JoinHostPort(host, strconv.Itoa(port)) + "/"
}

// Dial connects to the server.
type Dial func(context.Context) (net.Conn, error)

// Limits of a request for a page's title.
const (
	titleTime  = 3 * time.Second
	titleBytes = 64 << 10
	titleRunes = 200
)

// title matches the title element of an HTML page.
var title = pattern.Lazy(`(?is)<title[^>]*>(.*?)</title>`)

// Title returns the title of the server's page at /, or "". It follows no redirects.
func Title(ctx context.Context, p *api.Port, dial Dial) string {
	ctx, cancel := context.WithTimeout(ctx, titleTime)
	defer cancel()
	c := http.Client{
		Transport: &http.Transport{
			DisableKeepAlives: true, MaxResponseHeaderBytes: titleBytes,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort("localhost", strconv.Itoa(p.Port))+"/", nil)
	if err != nil {
		return ""
	}
	resp, err := c.Do(req)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, titleBytes)) // what there is in time
	m := title.FindSubmatch(body)
	if m == nil {
		return ""
	}
	text := []rune(strings.Join(strings.Fields(html.UnescapeString(strings.ToValidUTF8(string(m[1]), "\uFFFD"))), " "))
	return string(text[:min(len(text), titleRunes)])
}

// Forward accepts connections on a loopback port and passes each on to a new connection to the server.
type Forward struct {
	Port int // on this machine
	l    net.Listener
	dial Dial
}

// Listen checks that the server can be reached and opens the port: local if that is not 0, else the server's own port, or
// a free one.
func Listen(ctx context.Context, dial Dial, port, local int) (*Forward, error) {
	conn, err := dial(ctx)
	if err != nil {
		return nil, err
	}
	_ = conn.Close()
	listen := func(port int) (net.Listener, error) {
		return new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	}
	var l net.Listener
	if local > 0 {
		if l, err = listen(local); err != nil {
			return nil, api.Errorf(api.CodeUnavailable, "port %d of this machine: %v", local, err).WithHint("choose a free one with --local-port")
		}
	} else if l, err = listen(port); err != nil { // in use, or below 1024
		if l, err = listen(0); err != nil {
			return nil, err
		}
	}
	return &Forward{Port: l.Addr().(*net.TCPAddr).Port, l: l, dial: dial}, nil
}

// Close closes the port. Connections continue until Serve returns.
func (f *Forward) Close() { _ = f.l.Close() }

// Serve passes connections on until ctx ends, and closes all.
func (f *Forward) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var open sync.WaitGroup
	defer open.Wait()
	defer cancel()
	defer context.AfterFunc(ctx, f.Close)()
	for {
		here, err := f.l.Accept()
		switch {
		case err == nil:
			open.Go(func() { f.pass(ctx, here) })
		case ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			return ctx.Err()
		default:
			return fmt.Errorf("accept: %w", err)
		}
	}
}

// pass forwards a connection to a new one to the server, until both have ended or ctx does.
func (f *Forward) pass(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	there, err := f.dial(ctx)
	if err != nil {
		return
	}
	defer there.Close()
	defer context.AfterFunc(ctx, func() { _, _ = conn.Close(), there.Close() })()
	var both sync.WaitGroup
	one := func(to, from net.Conn) {
		_, err := io.Copy(to, from)
		half, ok := to.(interface{ CloseWrite() error })
		if err != nil || !ok || half.CloseWrite() != nil {
			_ = to.Close()
		}
	}
	both.Go(func() { one(there, conn) })
	both.Go(func() { one(conn, there) })
	both.Wait()
}
