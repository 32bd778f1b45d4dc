//go:build unix

package client

import (
	"context"
	"io"
	"net/url"
	"strconv"

	"github.com/longterm-dev/longterm/session/api"
)

// FollowEvents is Events over daemons that are replaced or die: after a break what happened meanwhile comes first, or an
// event "lost" where that is not known any more. Each daemon begins with an event "listening". It ends when ctx does, f
// returns an error or no daemon comes.
func (c *Client) FollowEvents(ctx context.Context, f func(api.Event) error) error {
	return c.followEvents(ctx, url.Values{}, f)
}

// FollowEventsWithOutput is FollowEvents with those of what sessions print, at most ten of a kind in a second for each. What is
// printed during a break is not told.
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
	for p := newPatience(); ; {
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
			return wentAway(io.ErrUnexpectedEOF)
		}
		c.http.CloseIdleConnections()
	}
}
