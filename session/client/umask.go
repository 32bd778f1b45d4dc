//go:build unix

package client

import (
	"context"
	"fmt"
	"os"
	"syscall"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sys"
)

// settle has a session start where its caller is: with its umask; or, on another host, where a login there would
// have it.
func (c *Client) settle(ctx context.Context, n *api.NewSession) error {
	if c.o.Way == nil {
		ourUmask(n)
		return nil
	}
	at, err := c.o.Way.Place(ctx)
	if err != nil {
		return err
	}
	n.Env = at.Env
	here, _ := os.Getwd() // it may be gone: then nothing is taken for it
	switch {
	case n.GivenCwd != "":
		n.Cwd, err = at.Path(n.GivenCwd)
	case n.Cwd == here:
		n.Cwd = at.Home
	}
	return err
}

// ourUmask has a session make files with the modes that its caller's would have.
func ourUmask(n *api.NewSession) {
	if n.Umask == "" {
		n.Umask = umask()
	}
}

// umask is this process's, in octal.
func umask() string {
	if mask, err := sys.Field(0, "status", "Umask"); err == nil {
		return mask
	}
	mask := syscall.Umask(0o077) // it can only be asked for by changing it
	syscall.Umask(mask)
	return fmt.Sprintf("%04o", mask)
}
