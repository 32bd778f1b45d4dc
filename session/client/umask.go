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

// fillStartContext adds the caller's start context: its umask or, on a remote host, that of a login there.
func (c *Client) fillStartContext(ctx context.Context, n *api.NewSession) error {
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

// ourUmask sets the umask of a session to the caller's.
func ourUmask(n *api.NewSession) {
	if n.Umask == "" {
		n.Umask = umask()
	}
}

// umask returns this process's umask, in octal.
func umask() string {
	if mask, err := sys.Field(0, "status", "Umask"); err == nil {
		return mask
	}
	mask := syscall.Umask(0o077) // reading it requires changing it
	syscall.Umask(mask)
	return fmt.Sprintf("%04o", mask)
}
