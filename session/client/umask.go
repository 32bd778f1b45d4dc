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
	if c.options.Remote == nil {
		setCallerUmask(n)
		return nil
	}
	login, err := c.options.Remote.Login(ctx)
	if err != nil {
		return err
	}
	n.Env = login.Env
	here, _ := os.Getwd() // "" if the directory was removed: then no path equals it
	switch {
	case n.GivenCwd != "":
		n.Cwd, err = login.Path(n.GivenCwd)
	case n.Cwd == here:
		n.Cwd = login.Home
	}
	return err
}

// setCallerUmask sets the umask of a session to the caller's, unless one is set.
func setCallerUmask(n *api.NewSession) {
	if n.Umask == "" {
		n.Umask = currentUmask()
	}
}

// currentUmask returns this process's umask, in octal.
func currentUmask() string {
	if mask, err := sys.Field(0, "status", "Umask"); err == nil {
		return mask
	}
	mask := syscall.Umask(0o077) // reading it requires changing it
	syscall.Umask(mask)
	return fmt.Sprintf("%04o", mask)
}
