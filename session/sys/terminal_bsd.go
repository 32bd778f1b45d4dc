//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package sys

import "golang.org/x/sys/unix"

const getTermios = unix.TIOCGETA

// settings returns a terminal's settings.
func settings(fd int) (*unix.Termios, error) { return unix.IoctlGetTermios(fd, getTermios) }
