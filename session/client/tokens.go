//go:build unix

package client

import (
	"context"
	"net/url"

	"github.com/longterm-dev/longterm/session/api"
)

// Tokens returns the tokens for the API over TCP.
func (c *Client) Tokens(ctx context.Context) ([]api.Token, error) {
	return get[[]api.Token](ctx, c, "/tokens", nil)
}

// NewToken creates a token. Only this response has its secret.
func (c *Client) NewToken(ctx context.Context, n api.NewToken) (api.MadeToken, error) {
	return send[api.MadeToken](ctx, c, "POST", "/tokens", nil, n)
}

// RevokeToken revokes a token, and ends the requests made with it.
func (c *Client) RevokeToken(ctx context.Context, name string) error {
	_, err := send[struct{}](ctx, c, "DELETE", "/tokens/"+url.PathEscape(name), nil, nil)
	return err
}
