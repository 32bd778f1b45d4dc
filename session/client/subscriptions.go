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

// Subscriptions returns the subscriptions to completions.
func (c *Client) Subscriptions(ctx context.Context) ([]api.Subscription, error) {
	return get[[]api.Subscription](ctx, c, "/subscriptions", nil)
}

// Subscribe creates a subscription that starts now, or returns an existing equal one.
func (c *Client) Subscribe(ctx context.Context, name string, n api.NewSubscription) (api.Subscription, error) {
	return sendIdempotent[api.Subscription](ctx, c, "PUT", subscriptionPath(name), n)
}

// Unsubscribe removes a subscription.
func (c *Client) Unsubscribe(ctx context.Context, name string) error {
	_, err := send[struct{}](ctx, c, "DELETE", subscriptionPath(name), nil, nil)
	return err
}

// Completions returns what a subscription has not acknowledged, or waits for it.
func (c *Client) Completions(ctx context.Context, name string, in api.ReadCompletions) (api.Completions, error) {
	return sendIdempotent[api.Completions](ctx, c, "POST", subscriptionPath(name)+"/read", in)
}

// StreamCompletions calls f with the unacknowledged completions after a cursor and then with new ones, until ctx ends,
// f returns an error or the daemon disconnects. The first call comes at once, even without completions. It ignores the
// limit and waiting time of in.
func (c *Client) StreamCompletions(ctx context.Context, name string, in api.ReadCompletions, f func(api.Completions) error) error {
	q := url.Values{"after": {strconv.FormatUint(in.After, 10)}}
	if in.Reader != "" {
		q.Set("reader", in.Reader)
		q.Set("take", strconv.FormatBool(in.Take))
	}
	resp, err := c.do(ctx, "GET", subscriptionPath(name)+"/events", q, nil)
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

// Acknowledge marks a subscription's completions as handled up to a cursor. They are not sent again.
func (c *Client) Acknowledge(ctx context.Context, name string, in api.AckCompletions) (api.Subscription, error) {
	return sendIdempotent[api.Subscription](ctx, c, "POST", subscriptionPath(name)+"/ack", in)
}

// subscriptionPath returns the API path of a subscription.
func subscriptionPath(name string) string { return "/subscriptions/" + url.PathEscape(name) }

// sendIdempotent sends an idempotent request, which is retried if the daemon disconnects.
func sendIdempotent[T any](ctx context.Context, c *Client, method, path string, body any) (T, error) {
	for p := newRetryPolicy(); ; {
		v, err := send[T](ctx, c, method, path, nil, body)
		if err == nil || !c.prepareRetry(ctx, p, err) {
			return v, err
		}
	}
}
