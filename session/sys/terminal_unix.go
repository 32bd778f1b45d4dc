//go:build unix

package sys

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// ForegroundGroup is the foreground process group of a terminal, asked at either end. Where there is
// none it is 0, or no process's number.
func ForegroundGroup(fd int) (int, error) {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	if err != nil {
		return 0, fmt.Errorf("find the foreground process group: %w", err)
	}
	return group, nil
}

// SetSize tells a terminal its size in cells; the foreground hears of it.
func SetSize(fd, cols, rows int) error {
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(cols), Row: uint16(rows)}); err != nil {
		return fmt.Errorf("resize the terminal: %w", err)
	}
	return nil
}
