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

// LockUpgrade waits until no other client on this machine replaces keepers and daemon, and excludes others until
// unlock. Each client then connects to the daemon that it upgraded.
func (c *Client) LockUpgrade(ctx context.Context) (unlock func(), err error) {
	if err := c.options.Dirs.Make(); err != nil {
		return nil, c.storageError("%v", err)
	}
	unlock, err = acquireLock(ctx, c.options.Dirs.UpgradeLock())
	if err != nil && ctx.Err() == nil {
		return nil, c.storageError("lock of upgrades: %v", err)
	}
	return unlock, err
}
