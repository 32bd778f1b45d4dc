//go:build unix

package client

import (
	"bytes"
	"fmt"
	"os"
	"syscall"

	"github.com/longterm-dev/longterm/session/api"
)

// ourUmask has a session make files with the modes that its caller's would have.
func ourUmask(n *api.NewSession) {
	if n.Umask == "" {
		n.Umask = umask()
	}
}

// umask is this process's, in octal.
func umask() string {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range bytes.Lines(status) {
		if mask, ok := bytes.CutPrefix(line, []byte("Umask:")); ok {
			return string(bytes.TrimSpace(mask))
		}
	}
	mask := syscall.Umask(0o077) // it can only be asked for by changing it
	syscall.Umask(mask)
	return fmt.Sprintf("%04o", mask)
}
