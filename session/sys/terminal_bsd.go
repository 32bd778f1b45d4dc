//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package sys

import "golang.org/x/sys/unix"

const getTermios = unix.TIOCGETA

// readTermios returns a terminal's settings.
func readTermios(fd int) (*unix.Termios, error) { return unix.IoctlGetTermios(fd, getTermios) }
