// Package proxy lets a sandbox's programs reach listed hosts only.
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

// Asker decides about a host that is not listed. It may take as long as a user does.
type Asker func(ctx context.Context, host string, port int) (allowed bool, why string)

// Proxy serves one sandbox.
type Proxy struct {
	hosts   []sandbox.Host
	ask     Asker // nil: what is not listed is refused
	resolve func(ctx context.Context, name string) ([]netip.Addr, error)
	dial    func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
	busy    chan struct{}

	profile, file string // where hosts are listed; empty: unknown
}

// Bounds of clients.
const (
	maxClients  = 512
	requestTime = 30 * time.Second // until a request is complete
	dialTime    = 30 * time.Second
)

// New makes a proxy. Hosts are as in profiles.
func New(hosts []string, ask Asker) (*Proxy, error) {
	p := &Proxy{ask: ask, busy: make(chan struct{}, maxClients), resolve: resolve, dial: dial}
	for _, s := range hosts {
		h, err := sandbox.ParseHost(s)
		if err != nil {
			return nil, err
		}
		p.hosts = append(p.hosts, h)
	}
	return p, nil
}

func resolve(ctx context.Context, name string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
}

func dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", to.String())
}

// Serve answers connections until the listener is closed.
func (p *Proxy) Serve(l net.Listener) error { return p.each(l, p.client) }

// Forward leads connections to an address of loopback that is listed out to the same address there, until the listener
// is closed.
func (p *Proxy) Forward(l net.Listener) error {
	at, err := netip.ParseAddrPort(l.Addr().String())
	if err != nil {
		return err
	}
	return p.each(l, func(ctx context.Context, c net.Conn) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer c.Close()
		context.AfterFunc(ctx, func() { _ = c.Close() })
		if !p.isListed(at.Addr(), int(at.Port())) { // asking is for what has a name
			return
		}
		out, err := p.connect(ctx, at.Addr().String(), int(at.Port()))
		if err != nil {
			return
		}
		defer out.Close()
		join(c, c, out)
	})
}

// each handles each connection separately.
func (p *Proxy) each(l net.Listener, deal func(context.Context, net.Conn)) error {
	ctx, cancel := context.WithCancel(context.Background())
	var clients sync.WaitGroup
	defer clients.Wait()
	defer cancel()
	for {
		p.busy <- struct{}{}
		c, err := l.Accept()
		if err != nil {
			<-p.busy
			var passing interface{ Temporary() bool }
			if errors.As(err, &passing) && passing.Temporary() {
				time.Sleep(10 * time.Millisecond) // no descriptors left
				continue
			}
			return err
		}
		clients.Go(func() {
			defer func() { <-p.busy }()
			deal(ctx, c)
		})
	}
}

// request is where a client wants to go.
type request struct {
	host string
	port int
	// first is what is sent there before what the client sends on.
	first []byte
	// answer sends the result to the client; nil: connected.
	answer func(w io.Writer, err error) error
}

func (p *Proxy) client(ctx context.Context, c net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer c.Close()
	context.AfterFunc(ctx, func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(requestTime))
	in := bufio.NewReaderSize(c, maxHead)
	r, err := read(in, c)
	if err != nil {
		return
	}
	_ = c.SetDeadline(time.Time{})
	out, err := p.connect(ctx, r.host, r.port)
	if answerErr := r.answer(c, err); err != nil || answerErr != nil {
		if out != nil {
			_ = out.Close()
		}
		return
	}
	defer out.Close()
	if _, err := out.Write(r.first); err != nil {
		return
	}
	join(c, in, out)
}

// read reads a request; its first byte selects the protocol.
func read(in *bufio.Reader, out io.Writer) (*request, error) {
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

// join passes on what both sides send until both have ended.
func join(client net.Conn, in io.Reader, out net.Conn) {
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(out, in)
		endWriting(out)
	})
	both.Go(func() {
		_, _ = io.Copy(client, out)
		endWriting(client)
	})
	both.Wait()
}

func endWriting(c net.Conn) {
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

// connect judges a host and connects to it.
func (p *Proxy) connect(ctx context.Context, host string, port int) (net.Conn, error) {
	addrs, err := p.judge(ctx, host, port)
	if err != nil {
		return nil, err
	}
	var errs error
	for _, a := range addrs {
		to, cancel := context.WithTimeout(ctx, dialTime)
		c, err := p.dial(to, netip.AddrPortFrom(a, uint16(port)))
		cancel()
		if err == nil {
			return c, nil
		}
		errs = errors.Join(errs, err)
	}
	return nil, errs
}

// judge returns the addresses that a host may be reached at.
func (p *Proxy) judge(ctx context.Context, host string, port int) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		a = a.Unmap()
		if a.Zone() == "" && p.isListed(a, port) {
			return []netip.Addr{a}, nil
		}
		if sandbox.IsInner(a) || a.Zone() != "" {
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
		known = known || h.ByName(name, port)
	}
	if !known {
		if err := p.askUnlisted(ctx, name, port, "it is not listed"); err != nil {
			return nil, err
		}
	}
	look, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	found, err := p.resolve(look, name)
	if err != nil {
		return nil, err
	}
	var addrs []netip.Addr
	for _, a := range found {
		if a = a.Unmap(); !sandbox.IsInner(a) && a.Zone() == "" || p.isListed(a, port) {
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

func (p *Proxy) isListed(a netip.Addr, port int) bool {
	for _, h := range p.hosts {
		if h.ByAddr(a, port) {
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
	if ok, said := p.ask(ctx, host, port); !ok {
		return &RefusedError{host, port, said}
	}
	return nil
}
