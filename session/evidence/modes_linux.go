package evidence

import "golang.org/x/sys/unix"

const getTermios = unix.TCGETS

// OutputPending reports if something that was printed has not been read from a PTY's master yet.
func OutputPending(master int) bool {
	n, err := unix.IoctlGetInt(master, unix.TIOCINQ)
	return err == nil && n > 0
}
