//go:build unix

package client

import (
	"context"
	"io"
	"net/url"
	"strconv"

	"github.com/longterm-dev/longterm/session/api"
)

// FollowEvents is Events across daemon restarts. After a break the missed events come first, or an event "lost" if they
// are unknown. Each daemon starts with an event "listening". It returns when ctx ends, f returns an error or no daemon
// comes back.
func (c *Client) FollowEvents(ctx context.Context, f func(api.Event) error) error {
	return c.followEvents(ctx, url.Values{}, f)
}

// FollowEventsWithOutput is FollowEvents plus output events, at most ten per second of each kind and session. Output
// during a break is not reported.
func (c *Client) FollowEventsWithOutput(ctx context.Context, f func(api.Event) error) error {
	return c.followEvents(ctx, url.Values{"output": {"true"}}, f)
}

func (c *Client) followEvents(ctx context.Context, q url.Values, f func(api.Event) error) error {
	var seen uint64
	var own error
	tell := func(e api.Event) error {
		seen = max(seen, e.Seq)
		own = f(e)
		return own
	}
	for p := newRetryPolicy(); ; {
		if seen > 0 {
			q.Set("after", strconv.FormatUint(seen, 10))
		}
		err := c.events(ctx, q, tell)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case own != nil:
			return own
		case err != nil && !isCut(err):
			return err
		case !p.pause(ctx):
			return disconnectedError(io.ErrUnexpectedEOF)
		}
		c.http.CloseIdleConnections()
	}
}
