//go:build unix

package client

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/keeper/wire"
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
	return get[[]api.FleetSession](ctx, c, "/fleet/sessions", hostQuery(host))
}

// FleetEvents are completions on the fleet's hosts that a reader has not acknowledged.
func (c *Client) FleetEvents(ctx context.Context, r api.FleetRead) (api.FleetEvents, error) {
	return send[api.FleetEvents](ctx, c, "POST", "/fleet/events", nil, r)
}

func hostQuery(host string) url.Values {
	if host == "" {
		return nil
	}
	return url.Values{"host": {host}}
}

// DialFleet is a connection to the daemon of another host of the fleet, through the daemon of this one.
func (c *Client) DialFleet(ctx context.Context, host string) (net.Conn, error) {
	conn, err := wire.Dial(c.o.Dirs.Socket())
	if err != nil && notThere(err) {
		if err = c.Ensure(ctx); err == nil {
			conn, err = wire.Dial(c.o.Dirs.Socket())
		}
	}
	if err != nil {
		return nil, unavailable(err, c.o.Dirs)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	over, err := c.upgrade(ctx, conn, host)
	if !stop() && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return over, nil
}

func (c *Client) upgrade(ctx context.Context, conn net.Conn, host string) (net.Conn, error) {
	req, err := http.NewRequestWithContext(ctx, "GET", "http://longterm"+api.Version+"/fleet/dial?"+hostQuery(host).Encode(), nil)
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

// ViaFleet is the way to the daemon of a host of the fleet.
type ViaFleet struct {
	Local *Client
	Host  string
	Here  bool // it is this one
}

// Dial connects to it.
func (v ViaFleet) Dial(ctx context.Context) (net.Conn, error) {
	if v.Here {
		return v.Local.dial(ctx, "", "")
	}
	return v.Local.DialFleet(ctx, v.Host)
}

// Ensure has this host's daemon run, which is the way to the others.
func (v ViaFleet) Ensure(ctx context.Context) error { return v.Local.Ensure(ctx) }

// Place is the home directory there; the environment is the daemon's.
func (v ViaFleet) Place(ctx context.Context) (Place, error) {
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
