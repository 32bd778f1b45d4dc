//go:build unix

package keeper

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// foreground is the foreground process group of a PTY, asked at its master.
func foreground(pty *os.File) (int, error) {
	raw, err := pty.SyscallConn()
	if err != nil {
		return 0, err
	}
	var pgid int
	var ioErr error
	if err := raw.Control(func(fd uintptr) {
		pgid, ioErr = unix.IoctlGetInt(int(fd), unix.TIOCGPGRP)
	}); err != nil {
		return 0, err
	}
	if ioErr != nil || pgid <= 0 {
		return 0, fmt.Errorf("the terminal has no foreground process group (%v)", ioErr)
	}
	return pgid, nil
}
