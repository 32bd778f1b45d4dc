//go:build unix

package client

import (
	"context"
	"net/url"

	"github.com/longterm-dev/longterm/session/api"
)

// Web returns the address of the web server.
func (c *Client) Web(ctx context.Context) (api.Web, error) { return get[api.Web](ctx, c, "/web", nil) }

// OpenWeb starts the web server and returns a login link.
func (c *Client) OpenWeb(ctx context.Context, o api.OpenWeb) (api.WebLink, error) {
	return send[api.WebLink](ctx, c, "POST", "/web", nil, o)
}

// CloseWeb stops the web server.
func (c *Client) CloseWeb(ctx context.Context) error {
	_, err := send[struct{}](ctx, c, "DELETE", "/web", nil, nil)
	return err
}

// Share creates a share link to the session.
func (s *Session) Share(ctx context.Context, o api.Share) (api.Shared, error) {
	return send[api.Shared](ctx, s.client, "POST", s.path+"/share", nil, o)
}

// Shares returns the share links of the session that count.
func (s *Session) Shares(ctx context.Context) ([]api.Token, error) {
	return get[[]api.Token](ctx, s.client, s.path+"/shares", nil)
}

// EndShare ends a share link of the session, by the name of its token.
func (s *Session) EndShare(ctx context.Context, name string) error {
	_, err := send[struct{}](ctx, s.client, "DELETE", s.path+"/shares/"+url.PathEscape(name), nil, nil)
	return err
}

// Push returns the daemon's key for Web Push, and the subscribed browsers.
func (c *Client) Push(ctx context.Context) (api.Push, error) {
	return get[api.Push](ctx, c, "/push", nil)
}

// SubscribePush sends entries of the inbox to a browser as notifications.
func (c *Client) SubscribePush(ctx context.Context, o api.SubscribePush) (api.PushSubscription, error) {
	return send[api.PushSubscription](ctx, c, "POST", "/push", nil, o)
}

// UnsubscribePush removes the subscription of a browser.
func (c *Client) UnsubscribePush(ctx context.Context, id string) error {
	_, err := send[struct{}](ctx, c, "DELETE", "/push/"+url.PathEscape(id), nil, nil)
	return err
}
