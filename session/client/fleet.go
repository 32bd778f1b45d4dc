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

// ChangeFleet changes this machine's fleet membership.
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

// hostQuery returns the query for a host, nil for all.
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

// DialReplica connects to a reader of the fleet's replica of a host.
func (c *Client) DialReplica(ctx context.Context, host string) (net.Conn, error) {
	return c.dialFleet(ctx, url.Values{"host": {host}, "copy": {"true"}})
}

// dialFleet opens a connection through the local daemon, which it starts if needed.
func (c *Client) dialFleet(ctx context.Context, q url.Values) (net.Conn, error) {
	conn, err := netsock.Dial(c.options.Dirs.Socket())
	if err != nil && isNotServed(err) {
		if err = c.Ensure(ctx); err == nil {
			conn, err = netsock.Dial(c.options.Dirs.Socket())
		}
	}
	if err != nil {
		return nil, newUnavailableError(err, c.options.Dirs)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	upgraded, err := c.upgradeConn(ctx, conn, "/fleet/dial?"+q.Encode())
	if !stop() && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return upgraded, nil
}

// DialPort connects to a TCP port of the session, on the daemon's machine.
func (s *Session) DialPort(ctx context.Context, port int) (net.Conn, error) {
	conn, err := s.client.dial(ctx, "", "")
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	upgraded, err := s.client.upgradeConn(ctx, conn, s.path+"/ports/"+strconv.Itoa(port))
	if !stop() && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return upgraded, nil
}

// upgradeConn sends an HTTP upgrade request for a path, and returns the connection to its destination.
func (c *Client) upgradeConn(ctx context.Context, conn net.Conn, path string) (net.Conn, error) {
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
	return &upgradedConn{conn, r}, nil
}

// ViaFleet is a RemoteHost that reaches the daemon of a fleet host. If the host is unreachable at the first dial, it
// reads the fleet's replica. One value uses either the host or the replica, never both.
type ViaFleet struct {
	Local         *Client
	Host          string
	IsLocal       bool // the host is this machine
	IsUnreachable bool // the fleet has received nothing from the host for a while
	NeedsLive     bool // the caller follows output, which a replica cannot provide

	mu          sync.Mutex
	dial        func(context.Context, string) (net.Conn, error) // chosen at the first dial; nil before
	usesReplica bool                                            // dial is DialReplica
}

// Dial connects to the host or its replica.
func (v *ViaFleet) Dial(ctx context.Context) (net.Conn, error) {
	if v.IsLocal {
		return v.Local.dial(ctx, "", "")
	}
	v.mu.Lock()
	way := v.dial
	v.mu.Unlock()
	if way == nil && v.NeedsLive {
		way = v.Local.DialFleet
	}
	if way != nil {
		conn, err := way(ctx, v.Host)
		if ctx.Err() == nil && v.wasReached() {
			err = asRetryable(err) // its daemon, or a server in between, may be restarting
		}
		return conn, err
	}
	way = v.Local.DialFleet
	copied := v.IsUnreachable
	if copied {
		way = v.Local.DialReplica
	}
	conn, err := way(ctx, v.Host)
	var e *api.Error
	if !v.IsUnreachable && errors.As(err, &e) && e.Code == api.CodeUnavailable && !e.Retry && ctx.Err() == nil {
		if read, copyErr := v.Local.DialReplica(ctx, v.Host); copyErr == nil {
			way, conn, err, copied = v.Local.DialReplica, read, nil, true
		}
	}
	if v.IsUnreachable && errors.As(err, &e) && (e.Code == api.CodeNotFound || e.Code == api.CodeDenied) {
		err = api.Errorf(api.CodeUnavailable, "the host %s of the fleet is away, and its copy is not read: %s", v.Host, e.Message).
			WithHint("see `longterm fleet hosts`; %s", e.Hint)
	}
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.dial == nil {
		v.dial, v.usesReplica = way, copied
	}
	return conn, nil
}

// wasReached reports whether the host itself was reached, not its replica. Callers that follow it handle lost
// connections.
func (v *ViaFleet) wasReached() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.dial != nil && !v.usesReplica
}

// asRetryable marks the error of an unreachable host as retryable.
func asRetryable(err error) error {
	var e *api.Error
	if !errors.As(err, &e) || e.Code != api.CodeUnavailable {
		return err
	}
	retryable := *e
	return retryable.Retryable()
}

// Ensure starts the local daemon if needed. It forwards to the other hosts.
func (v *ViaFleet) Ensure(ctx context.Context) error { return v.Local.Ensure(ctx) }

// Login returns the home directory on the host. The environment is the daemon's.
func (v *ViaFleet) Login(ctx context.Context) (Login, error) {
	p := Login{Host: v.Host}
	list, err := v.Local.FleetHosts(ctx, v.Host)
	if err == nil && len(list) > 0 {
		p.Home = list[0].Home
	}
	return p, err
}

// upgradedConn is a connection after an upgrade, whose first bytes may be buffered.
type upgradedConn struct {
	net.Conn
	reader *bufio.Reader
}

// Read implements net.Conn.
func (u *upgradedConn) Read(b []byte) (int, error) { return u.reader.Read(b) }

// CloseWrite closes the sending direction, if the connection supports it.
func (u *upgradedConn) CloseWrite() error {
	if half, ok := u.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}
