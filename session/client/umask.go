//go:build unix

package client

import (
	"fmt"
	"syscall"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sys"
)

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
