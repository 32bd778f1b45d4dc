//go:build unix

package client

import (
	"context"

	"github.com/longterm-dev/longterm/session/api"
)

// Upgrade replaces keepers and daemon by another executable.
func (c *Client) Upgrade(ctx context.Context, u api.Upgrade) error {
	_, err := send[struct{}](ctx, c, "POST", "/upgrade", nil, u)
	return err
}

// UpgradeAlone waits until no other client on this machine has keepers and daemon replaced, and keeps others from beginning
// until it is unlocked: each of several then sees the daemon that its own upgrade brought.
func (c *Client) UpgradeAlone(ctx context.Context) (unlock func(), err error) {
	if err := c.o.Dirs.Make(); err != nil {
		return nil, c.storage("%v", err)
	}
	unlock, err = lockFile(ctx, c.o.Dirs.UpgradeLock())
	if err != nil && ctx.Err() == nil {
		return nil, c.storage("lock of upgrades: %v", err)
	}
	return unlock, err
}
