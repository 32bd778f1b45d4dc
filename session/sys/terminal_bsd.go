//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package sys

import "golang.org/x/sys/unix"

const getTermios = unix.TIOCGETA

// settings are a terminal's.
func settings(fd int) (*unix.Termios, error) { return unix.IoctlGetTermios(fd, getTermios) }
