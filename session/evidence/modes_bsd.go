//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package evidence

import "golang.org/x/sys/unix"

const getTermios = unix.TIOCGETA

// OutputPending is not known here.
func OutputPending(int) bool { return false }
