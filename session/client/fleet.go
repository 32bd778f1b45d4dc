//go:build unix

package client

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sys/unixsock/netsock"
)

// Fleet returns this machine's fleet membership.
func (c *Client) Fleet(ctx context.Context) (api.Fleet, error) {
	return get[api.Fleet](ctx, c, "/fleet", nil)
}

// ChangeFleet changes it.
func (c *Client) ChangeFleet(ctx context.Context, a api.FleetAct) (api.Fleet, error) {
	return send[api.Fleet](ctx, c, "POST", "/fleet", nil, a)
}

// FleetHosts returns the hosts of the fleet, or the named one.
func (c *Client) FleetHosts(ctx context.Context, host string) ([]api.FleetHost, error) {
	return get[[]api.FleetHost](ctx, c, "/fleet/hosts", hostQuery(host))
}

// FleetSessions returns the sessions of the fleet's hosts, or of one.
func (c *Client) FleetSessions(ctx context.Context, host string) ([]api.FleetSession, error) {
	return get[api.FleetSessions](ctx, c, "/fleet/sessions", hostQuery(host))
}

// FleetEvents returns the completions on the fleet's hosts that a reader has not acknowledged.
func (c *Client) FleetEvents(ctx context.Context, r api.FleetRead) (api.FleetEvents, error) {
	return send[api.FleetEvents](ctx, c, "POST", "/fleet/events", nil, r)
}

// SSHHosts returns the hosts in the SSH configuration of the daemon's user, without contacting them.
func (c *Client) SSHHosts(ctx context.Context) ([]api.SSHHost, error) {
	return get[[]api.SSHHost](ctx, c, "/hosts", nil)
}

// SSHSessions returns the sessions of an SSH host. The daemon connects without password prompts.
func (c *Client) SSHSessions(ctx context.Context, host string) ([]api.FleetSession, error) {
	return get[[]api.FleetSession](ctx, c, "/hosts/"+url.PathEscape(host)+"/sessions", nil)
}

func hostQuery(host string) url.Values {
	if host == "" {
		return nil
	}
	return url.Values{"host": {host}}
}

// DialFleet connects to the daemon of another fleet host through the local daemon.
func (c *Client) DialFleet(ctx context.Context, host string) (net.Conn, error) {
	return c.dialFleet(ctx, hostQuery(host))
}

// DialCopy connects to a reader of the fleet's replica of a host.
func (c *Client) DialCopy(ctx context.Context, host string) (net.Conn, error) {
	return c.dialFleet(ctx, url.Values{"host": {host}, "copy": {"true"}})
}

func (c *Client) dialFleet(ctx context.Context, q url.Values) (net.Conn, error) {
	conn, err := netsock.Dial(c.o.Dirs.Socket())
	if err != nil && notThere(err) {
		if err = c.Ensure(ctx); err == nil {
			conn, err = netsock.Dial(c.o.Dirs.Socket())
		}
	}
	if err != nil {
		return nil, unavailable(err, c.o.Dirs)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	over, err := c.upgrade(ctx, conn, "/fleet/dial?"+q.Encode())
	if !stop() && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return over, nil
}

// DialPort connects to a TCP port of the session, on the daemon's machine.
func (s *Session) DialPort(ctx context.Context, port int) (net.Conn, error) {
	conn, err := s.c.dial(ctx, "", "")
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	over, err := s.c.upgrade(ctx, conn, s.path+"/ports/"+strconv.Itoa(port))
	if !stop() && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return over, nil
}

// upgrade turns a connection to the daemon into one to what a path names.
func (c *Client) upgrade(ctx context.Context, conn net.Conn, path string) (net.Conn, error) {
	req, err := http.NewRequestWithContext(ctx, "GET", "http://longterm"+api.Version+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "longterm")
	c.identify(req.Header)
	if err := req.Write(conn); err != nil {
		return nil, err
	}
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		return nil, readError(resp)
	}
	return &upgraded{conn, r}, nil
}

// ViaFleet reaches the daemon of a fleet host. If the host is unreachable at the first dial, it reads the fleet's
// replica. One value uses either the host or the replica, never both.
type ViaFleet struct {
	Local *Client
	Host  string
	Here  bool // it is this one
	Away  bool // nothing was heard of it for a while
	Live  bool // the caller follows output, which a replica cannot provide

	mu     sync.Mutex
	way    func(context.Context, string) (net.Conn, error) // nil before the first dial
	copied bool                                            // it is to the copy
}

// Dial connects to it.
func (v *ViaFleet) Dial(ctx context.Context) (net.Conn, error) {
	if v.Here {
		return v.Local.dial(ctx, "", "")
	}
	v.mu.Lock()
	way := v.way
	v.mu.Unlock()
	if way == nil && v.Live {
		way = v.Local.DialFleet
	}
	if way != nil {
		conn, err := way(ctx, v.Host)
		if ctx.Err() == nil && v.wasReached() {
			err = retryable(err) // its daemon, or a server, may be replaced by another just now
		}
		return conn, err
	}
	way = v.Local.DialFleet
	copied := v.Away
	if copied {
		way = v.Local.DialCopy
	}
	conn, err := way(ctx, v.Host)
	var e *api.Error
	if !v.Away && errors.As(err, &e) && e.Code == api.CodeUnavailable && !e.Retry && ctx.Err() == nil {
		if read, copyErr := v.Local.DialCopy(ctx, v.Host); copyErr == nil {
			way, conn, err, copied = v.Local.DialCopy, read, nil, true
		}
	}
	if v.Away && errors.As(err, &e) && (e.Code == api.CodeNotFound || e.Code == api.CodeDenied) {
		err = api.Errorf(api.CodeUnavailable, "the host %s of the fleet is away, and its copy is not read: %s", v.Host, e.Message).
			WithHint("see `longterm fleet hosts`; %s", e.Hint)
	}
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.way == nil {
		v.way, v.copied = way, copied
	}
	return conn, nil
}

// wasReached reports whether the host itself was reached, not its replica. Callers that follow it handle lost
// connections.
func (v *ViaFleet) wasReached() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.way != nil && !v.copied
}

// retryable marks the error of an unreachable host as retryable.
func retryable(err error) error {
	var e *api.Error
	if !errors.As(err, &e) || e.Code != api.CodeUnavailable {
		return err
	}
	again := *e
	return again.Retryable()
}

// Ensure ensures that the local daemon runs, which forwards to the other hosts.
func (v *ViaFleet) Ensure(ctx context.Context) error { return v.Local.Ensure(ctx) }

// Place returns the home directory there. The environment is the daemon's.
func (v *ViaFleet) Place(ctx context.Context) (Login, error) {
	p := Login{Host: v.Host}
	list, err := v.Local.FleetHosts(ctx, v.Host)
	if err == nil && len(list) > 0 {
		p.Home = list[0].Home
	}
	return p, err
}

// upgraded is a connection with bytes already read.
type upgraded struct {
	net.Conn
	r *bufio.Reader
}

// Read implements net.Conn.
func (u *upgraded) Read(b []byte) (int, error) { return u.r.Read(b) }

// CloseWrite ends the sending direction, where the connection has two.
func (u *upgraded) CloseWrite() error {
	if half, ok := u.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}
