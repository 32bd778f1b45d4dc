//go:build unix

package keeper

import (
	"fmt"
	"os"

	"github.com/longterm-dev/longterm/session/sys"
)

// foreground returns the foreground process group of a PTY, read at its master.
func foreground(pty *os.File) (pgid int, err error) {
	raw, err := pty.SyscallConn()
	if err != nil {
		return 0, err
	}
	err = sys.Control(raw, func(fd int) (err error) {
		pgid, err = sys.ForegroundGroup(fd)
		return err
	})
	if err != nil || pgid <= 0 {
		return 0, fmt.Errorf("the terminal has no foreground process group (%v)", err)
	}
	return pgid, nil
}
