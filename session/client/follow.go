//go:build unix

package client

import (
	"context"
	"io"

	"github.com/longterm-dev/longterm/session/api"
)

// FollowEvents is Events over daemons that are replaced or die: after a break what happened meanwhile comes first, or an
// event "lost" where that is not known any more. Each daemon begins with an event "listening". It ends when ctx does, f
// returns an error or no daemon comes.
func (c *Client) FollowEvents(ctx context.Context, f func(api.Event) error) error {
	var seen uint64
	var own error
	tell := func(e api.Event) error {
		seen = max(seen, e.Seq)
		own = f(e)
		return own
	}
	for p := newPatience(); ; {
		var err error
		if seen > 0 {
			err = c.EventsAfter(ctx, seen, tell)
		} else {
			err = c.Events(ctx, tell)
		}
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
