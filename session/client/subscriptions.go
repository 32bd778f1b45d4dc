//go:build unix

package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	"github.com/longterm-dev/longterm/session/api"
)

// Subscriptions lists who is told of completions, also of those while it was away.
func (c *Client) Subscriptions(ctx context.Context) ([]api.Subscription, error) {
	return get[[]api.Subscription](ctx, c, "/subscriptions", nil)
}

// Subscribe makes a subscription that begins now, or gives the one there is, if it is of the same things.
func (c *Client) Subscribe(ctx context.Context, name string, n api.NewSubscription) (api.Subscription, error) {
	return repeated[api.Subscription](ctx, c, "PUT", subscription(name), n)
}

// Unsubscribe removes a subscription.
func (c *Client) Unsubscribe(ctx context.Context, name string) error {
	_, err := send[struct{}](ctx, c, "DELETE", subscription(name), nil, nil)
	return err
}

// Completions reads what a subscription has not acknowledged, or waits for it.
func (c *Client) Completions(ctx context.Context, name string, in api.ReadCompletions) (api.Completions, error) {
	return repeated[api.Completions](ctx, c, "POST", subscription(name)+"/read", in)
}

// CompletionsAsTheyCome calls f with what a subscription has not acknowledged after a cursor, and then with what comes, until
// ctx ends, f returns an error or the daemon leaves; the first call is made at once, also with nothing. Limit and waiting
// time of in mean nothing here.
func (c *Client) CompletionsAsTheyCome(ctx context.Context, name string, in api.ReadCompletions, f func(api.Completions) error) error {
	q := url.Values{"after": {strconv.FormatUint(in.After, 10)}}
	if in.Reader != "" {
		q.Set("reader", in.Reader)
		q.Set("take", strconv.FormatBool(in.Take))
	}
	resp, err := c.do(ctx, "GET", subscription(name)+"/events", q, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return readEvents(resp.Body, func(data []byte) error {
		var got api.Completions
		if err := json.Unmarshal(data, &got); err != nil {
			return fmt.Errorf("completions: %w", err)
		}
		return f(got)
	})
}

// Acknowledge says up to where a subscription's completions were dealt with: they do not come again.
func (c *Client) Acknowledge(ctx context.Context, name string, in api.AckCompletions) (api.Subscription, error) {
	return repeated[api.Subscription](ctx, c, "POST", subscription(name)+"/ack", in)
}

func subscription(name string) string { return "/subscriptions/" + url.PathEscape(name) }

// repeated is send for what may be asked again when the daemon went away meanwhile: done twice it is done once.
func repeated[T any](ctx context.Context, c *Client, method, path string, body any) (T, error) {
	for p := newPatience(); ; {
		v, err := send[T](ctx, c, method, path, nil, body)
		if err == nil || !c.again(ctx, p, err) {
			return v, err
		}
	}
}
