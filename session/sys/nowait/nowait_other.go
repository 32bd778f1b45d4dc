//go:build unix && (!linux || race)

package nowait

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// works is false: the race detector has to see calls, which order what goroutines do, and other systems have no calls that
// their library does not make.
const works = false

// Read is read(2) of a descriptor that does not block: EAGAIN says that there is nothing.
func Read(fd int, p []byte) (int, error) {
	for {
		n, err := unix.Read(fd, p)
		if !errors.Is(err, unix.EINTR) {
			return max(n, 0), err
		}
	}
}

// Write is write(2) to a descriptor that does not block, of a part of p.
func Write(fd int, p []byte) (int, error) {
	for {
		n, err := unix.Write(fd, p)
		if !errors.Is(err, unix.EINTR) {
			return max(n, 0), err
		}
	}
}

// ReadMsg is ReadMsgUnix of a connection.
func ReadMsg(c *net.UnixConn, p, oob []byte) (n, oobn, flags int, err error) {
	n, oobn, flags, _, err = c.ReadMsgUnix(p, oob)
	return n, oobn, flags, err
}

// windowSize is for others to ask.
func windowSize(uintptr, *unix.Winsize) error { return errors.ErrUnsupported }
