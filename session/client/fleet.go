//go:build unix

package client

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sys/unixsock/netsock"
)

// Fleet is this machine's part in a fleet.
func (c *Client) Fleet(ctx context.Context) (api.Fleet, error) {
	return get[api.Fleet](ctx, c, "/fleet", nil)
}

// ChangeFleet changes it.
func (c *Client) ChangeFleet(ctx context.Context, a api.FleetAct) (api.Fleet, error) {
	return send[api.Fleet](ctx, c, "POST", "/fleet", nil, a)
}

// FleetHosts are the hosts of the fleet; with a name only that one.
func (c *Client) FleetHosts(ctx context.Context, host string) ([]api.FleetHost, error) {
	return get[[]api.FleetHost](ctx, c, "/fleet/hosts", hostQuery(host))
}

// FleetSessions are the sessions of the fleet's hosts, or of one.
func (c *Client) FleetSessions(ctx context.Context, host string) ([]api.FleetSession, error) {
	return get[api.FleetSessions](ctx, c, "/fleet/sessions", hostQuery(host))
}

// FleetEvents are completions on the fleet's hosts that a reader has not acknowledged.
func (c *Client) FleetEvents(ctx context.Context, r api.FleetRead) (api.FleetEvents, error) {
	return send[api.FleetEvents](ctx, c, "POST", "/fleet/events", nil, r)
}

// SSHHosts are the hosts that the configuration of the daemon's user names; none is asked.
func (c *Client) SSHHosts(ctx context.Context) ([]api.SSHHost, error) {
	return get[[]api.SSHHost](ctx, c, "/hosts", nil)
}

// SSHSessions are the sessions of one of them, as the daemon reaches it: without asking anybody for a password.
func (c *Client) SSHSessions(ctx context.Context, host string) ([]api.FleetSession, error) {
	return get[[]api.FleetSession](ctx, c, "/hosts/"+url.PathEscape(host)+"/sessions", nil)
}

func hostQuery(host string) url.Values {
	if host == "" {
		return nil
	}
	return url.Values{"host": {host}}
}

// DialFleet is a connection to the daemon of another host of the fleet, through the daemon of this one.
func (c *Client) DialFleet(ctx context.Context, host string) (net.Conn, error) {
	return c.dialFleet(ctx, hostQuery(host))
}

// DialCopy is a connection to what reads the fleet's copy of a host.
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
	over, err := c.upgrade(ctx, conn, q)
	if !stop() && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return over, nil
}

func (c *Client) upgrade(ctx context.Context, conn net.Conn, q url.Values) (net.Conn, error) {
	req, err := http.NewRequestWithContext(ctx, "GET", "http://longterm"+api.Version+"/fleet/dial?"+q.Encode(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "longterm")
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

// ViaFleet is the way to the daemon of a host of the fleet. A host that is away, or does not answer when it is dialled
// first, is read from the fleet's copy: who uses this way has one or the other, and never first one and then the other.
type ViaFleet struct {
	Local *Client
	Host  string
	Here  bool // it is this one
	Away  bool // nothing was heard of it for a while
	Live  bool // it is to be followed, which a copy is not: it is not read instead

	mu     sync.Mutex
	way    func(context.Context, string) (net.Conn, error) // nil: it was not dialled yet
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
			err = againSoon(err) // its daemon, or a server, may be replaced by another just now
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
			WithHint("`longterm fleet hosts` says since when; %s", e.Hint)
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

// wasReached says that the host itself was, and not its copy. Who follows it looks after what is lost by itself.
func (v *ViaFleet) wasReached() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.way != nil && !v.copied
}

// againSoon has who could not be reached be asked again.
func againSoon(err error) error {
	var e *api.Error
	if !errors.As(err, &e) || e.Code != api.CodeUnavailable {
		return err
	}
	again := *e
	return again.AgainSoon()
}

// Ensure has this host's daemon run, which is the way to the others.
func (v *ViaFleet) Ensure(ctx context.Context) error { return v.Local.Ensure(ctx) }

// Place is the home directory there; the environment is the daemon's.
func (v *ViaFleet) Place(ctx context.Context) (Place, error) {
	p := Place{Host: v.Host}
	list, err := v.Local.FleetHosts(ctx, v.Host)
	if err == nil && len(list) > 0 {
		p.Home = list[0].Home
	}
	return p, err
}

// upgraded is a connection of which something was read already.
type upgraded struct {
	net.Conn
	r *bufio.Reader
}

// Read implements net.Conn.
func (u *upgraded) Read(b []byte) (int, error) { return u.r.Read(b) }
