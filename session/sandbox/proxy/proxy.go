// Package proxy limits a sandbox's programs to listed hosts.
//
//	program → loopback of the sandbox's own network → proxy (outside) → host
//
// It serves HTTP (CONNECT, and requests with an absolute URL) and SOCKS5 (CONNECT) on one port. It runs in the process
// that represents the program outside of its namespaces. That process serves a listener created inside, so nothing
// needs forwarding, and it lives as long as the program, independent of the daemon.
//
// The proxy checks a host's name, then resolves it outside, once, and connects to those addresses. It connects to inner
// addresses (loopback, private networks, links, cloud metadata) only if they are listed as addresses, whatever a name
// resolves to. An address in place of a name must be listed.
//
// Data read from a client before the connection is bounded in bytes and time.
package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/sandbox"
)

// Approver decides about an unlisted host. It may take as long as the user does.
type Approver func(ctx context.Context, host string, port int) (allowed bool, why string)

// Proxy serves one sandbox.
type Proxy struct {
	hosts   []sandbox.Host
	ask     Approver // nil: unlisted hosts are rejected
	resolve func(ctx context.Context, name string) ([]netip.Addr, error)
	dial    func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
	slots   chan struct{} // one slot per client

	profile, file string // where hosts are listed, for messages; empty if unknown
}

// Bounds of clients.
const (
	maxClients     = 512
	requestTimeout = 30 * time.Second // until a request is complete
	dialTimeout    = 30 * time.Second
)

// New returns a proxy for hosts in the form of profiles.
func New(hosts []string, ask Approver) (*Proxy, error) {
	p := &Proxy{ask: ask, slots: make(chan struct{}, maxClients), resolve: resolve, dial: dial}
	for _, s := range hosts {
		h, err := sandbox.ParseHost(s)
		if err != nil {
			return nil, err
		}
		p.hosts = append(p.hosts, h)
	}
	return p, nil
}

// resolve looks a name up outside of the sandbox.
func resolve(ctx context.Context, name string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
}

// dial connects to an address outside of the sandbox.
func dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", to.String())
}

// Serve serves connections until the listener is closed.
func (p *Proxy) Serve(l net.Listener) error { return p.acceptAll(l, p.serveClient) }

// Forward forwards connections for a listed loopback address to the same address outside, until the listener is closed.
func (p *Proxy) Forward(l net.Listener) error {
	at, err := netip.ParseAddrPort(l.Addr().String())
	if err != nil {
		return err
	}
	return p.acceptAll(l, func(ctx context.Context, c net.Conn) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer c.Close()
		context.AfterFunc(ctx, func() { _ = c.Close() })
		if !p.isListed(at.Addr(), int(at.Port())) { // approval is for names only
			return
		}
		out, err := p.connect(ctx, at.Addr().String(), int(at.Port()))
		if err != nil {
			return
		}
		defer out.Close()
		relay(c, c, out)
	})
}

// acceptAll handles each connection on a separate goroutine.
func (p *Proxy) acceptAll(l net.Listener, deal func(context.Context, net.Conn)) error {
	ctx, cancel := context.WithCancel(context.Background())
	var clients sync.WaitGroup
	defer clients.Wait()
	defer cancel()
	for {
		p.slots <- struct{}{}
		c, err := l.Accept()
		if err != nil {
			<-p.slots
			var passing interface{ Temporary() bool }
			if errors.As(err, &passing) && passing.Temporary() {
				time.Sleep(10 * time.Millisecond) // no descriptors left
				continue
			}
			return err
		}
		clients.Go(func() {
			defer func() { <-p.slots }()
			deal(ctx, c)
		})
	}
}

// request is the destination of a client.
type request struct {
	host string
	port int
	// prefix is sent to the destination before the client's following bytes.
	prefix []byte
	// respond sends the result to the client; nil: connected.
	respond func(w io.Writer, err error) error
}

// serveClient serves one connection.
func (p *Proxy) serveClient(ctx context.Context, c net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer c.Close()
	context.AfterFunc(ctx, func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(requestTimeout))
	in := bufio.NewReaderSize(c, maxHead)
	r, err := readRequest(in, c)
	if err != nil {
		return
	}
	_ = c.SetDeadline(time.Time{})
	out, err := p.connect(ctx, r.host, r.port)
	if answerErr := r.respond(c, err); err != nil || answerErr != nil {
		if out != nil {
			_ = out.Close()
		}
		return
	}
	defer out.Close()
	if _, err := out.Write(r.prefix); err != nil {
		return
	}
	relay(c, in, out)
}

// readRequest reads a request; its first byte selects the protocol.
func readRequest(in *bufio.Reader, out io.Writer) (*request, error) {
	b, err := in.Peek(1)
	if err != nil {
		return nil, err
	}
	if b[0] == socksVersion {
		return readSocks(in, out)
	}
	r, err := readHTTP(in)
	if err != nil {
		_ = refuseHTTP(out, err)
	}
	return r, err
}

// relay forwards bytes both ways until both sides have ended.
func relay(client net.Conn, in io.Reader, out net.Conn) {
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(out, in)
		closeWrite(out)
	})
	both.Go(func() {
		_, _ = io.Copy(client, out)
		closeWrite(client)
	})
	both.Wait()
}

// closeWrite closes the writing side of a connection.
func closeWrite(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
		return
	}
	_ = c.Close()
}

// RefusedError rejects a host.
type RefusedError struct {
	Host string
	Port int
	Why  string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s is not to be reached from this sandbox: %s", net.JoinHostPort(e.Host, strconv.Itoa(e.Port)), e.Why)
}

// connect checks a host and connects to it.
func (p *Proxy) connect(ctx context.Context, host string, port int) (net.Conn, error) {
	addrs, err := p.allowedAddrs(ctx, host, port)
	if err != nil {
		return nil, err
	}
	var errs error
	for _, a := range addrs {
		to, cancel := context.WithTimeout(ctx, dialTimeout)
		c, err := p.dial(to, netip.AddrPortFrom(a, uint16(port)))
		cancel()
		if err == nil {
			return c, nil
		}
		errs = errors.Join(errs, err)
	}
	return nil, errs
}

// allowedAddrs returns the allowed addresses of a host, or an error that names the reason.
func (p *Proxy) allowedAddrs(ctx context.Context, host string, port int) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		a = a.Unmap()
		if a.Zone() == "" && p.isListed(a, port) {
			return []netip.Addr{a}, nil
		}
		if sandbox.IsInternal(a) || a.Zone() != "" {
			return nil, &RefusedError{host, port, p.unlistedText(host, port, "it is an inner address, and not listed")}
		}
		return []netip.Addr{a}, p.askUnlisted(ctx, host, port, "addresses have to be listed")
	}
	name, ok := sandbox.HostName(host)
	if !ok || looksNumeric(name) {
		return nil, &RefusedError{host, port, "this is no name of a host"}
	}
	known := false
	for _, h := range p.hosts {
		known = known || h.MatchesName(name, port)
	}
	if !known {
		if err := p.askUnlisted(ctx, name, port, "it is not listed"); err != nil {
			return nil, err
		}
	}
	look, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	found, err := p.resolve(look, name)
	if err != nil {
		return nil, err
	}
	var addrs []netip.Addr
	for _, a := range found {
		if a = a.Unmap(); !sandbox.IsInternal(a) && a.Zone() == "" || p.isListed(a, port) {
			addrs = append(addrs, a)
		}
	}
	if len(addrs) == 0 {
		return nil, &RefusedError{host, port, p.unlistedText(found[0].Unmap().String(), port, "its name leads to inner addresses, which are not listed")}
	}
	return addrs, nil
}

// looksNumeric reports whether a name ends in a number: resolvers treat such names as addresses, as 127.1 and 0x7f.1.
func looksNumeric(name string) bool {
	last := name
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '.' {
			last = name[i+1:]
			break
		}
	}
	_, err := strconv.ParseUint(last, 0, 64)
	return err == nil
}

// isListed reports whether an address and port are listed.
func (p *Proxy) isListed(a netip.Addr, port int) bool {
	for _, h := range p.hosts {
		if h.MatchesAddr(a, port) {
			return true
		}
	}
	return false
}

// unlistedText returns why a host is rejected, with the entry to add to the profile.
func (p *Proxy) unlistedText(host string, port int, why string) string {
	where := "of the profile"
	if p.profile != "" {
		where = fmt.Sprintf("of [%s] in %s", p.profile, p.file)
	}
	return fmt.Sprintf("%s; to allow it in new sessions, add %q to the list `network` %s", why, net.JoinHostPort(host, strconv.Itoa(port)), where)
}

// askUnlisted requests approval for an unlisted host.
func (p *Proxy) askUnlisted(ctx context.Context, host string, port int, why string) error {
	if p.ask == nil {
		return &RefusedError{host, port, p.unlistedText(host, port, why)}
	}
	if ok, reason := p.ask(ctx, host, port); !ok {
		return &RefusedError{host, port, reason}
	}
	return nil
}
