//go:build unix

package client

import (
	"context"
	"io"
	"net/url"
	"strconv"

	"github.com/longterm-dev/longterm/session/api"
)

// FollowEvents calls f with each event across daemon restarts. After a disconnect the missed events come first, or an
// event "lost" if they are unknown. Each daemon starts with an event "listening". It returns when ctx ends, f returns
// an error or no daemon starts.
func (c *Client) FollowEvents(ctx context.Context, f func(api.Event) error) error {
	return c.followEvents(ctx, url.Values{}, f)
}

// FollowEventsWithOutput calls f as FollowEvents does, also with output events, at most ten per second of each kind and
// session. Output while disconnected is not reported.
func (c *Client) FollowEventsWithOutput(ctx context.Context, f func(api.Event) error) error {
	return c.followEvents(ctx, url.Values{"output": {"true"}}, f)
}

// followEvents streams events, and reconnects after the last received one.
func (c *Client) followEvents(ctx context.Context, q url.Values, f func(api.Event) error) error {
	var seen uint64
	var callbackErr error
	deliver := func(e api.Event) error {
		seen = max(seen, e.Seq)
		callbackErr = f(e)
		return callbackErr
	}
	for p := newRetryPolicy(); ; {
		if seen > 0 {
			q.Set("after", strconv.FormatUint(seen, 10))
		}
		err := c.streamEvents(ctx, q, deliver)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case callbackErr != nil:
			return callbackErr
		case err != nil && !isDisconnect(err):
			return err
		case !p.pause(ctx):
			return newDisconnectError(io.ErrUnexpectedEOF)
		}
		c.http.CloseIdleConnections()
	}
}
