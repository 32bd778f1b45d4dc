//go:build unix

package client

import (
	"context"
	"net/url"

	"github.com/longterm-dev/longterm/session/api"
)

// Tokens lists the tokens for the API over TCP.
func (c *Client) Tokens(ctx context.Context) ([]api.Token, error) {
	return get[[]api.Token](ctx, c, "/tokens", nil)
}

// NewToken makes a token. Its secret is in this answer only.
func (c *Client) NewToken(ctx context.Context, n api.NewToken) (api.MadeToken, error) {
	return send[api.MadeToken](ctx, c, "POST", "/tokens", nil, n)
}

// RevokeToken takes a token back, and ends what is under way with it.
func (c *Client) RevokeToken(ctx context.Context, name string) error {
	_, err := send[struct{}](ctx, c, "DELETE", "/tokens/"+url.PathEscape(name), nil, nil)
	return err
}
