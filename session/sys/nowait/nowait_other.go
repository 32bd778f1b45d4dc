//go:build unix && (!linux || race)

package nowait

import (
	"errors"
	"io"
	"os"

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

// ReadMsg is recvmsg(2) of a connection: bytes, and what came with them.
func ReadMsg(c *os.File, p, oob []byte) (n, oobn, flags int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, 0, 0, err
	}
	if outer := raw.Read(func(fd uintptr) bool {
		n, oobn, flags, err = receive(int(fd), p, oob)
		return !errors.Is(err, unix.EAGAIN)
	}); outer != nil {
		return 0, 0, 0, RawError(c, outer)
	}
	if n == 0 && err == nil {
		return 0, oobn, flags, io.EOF
	}
	return n, oobn, flags, os.NewSyscallError("recvmsg", err)
}

func receive(fd int, p, oob []byte) (n, oobn, flags int, err error) {
	for {
		n, oobn, flags, _, err = unix.Recvmsg(fd, p, oob, cloexec)
		if !errors.Is(err, unix.EINTR) {
			return max(n, 0), oobn, flags, err
		}
	}
}

// windowSize is for others to ask.
func windowSize(uintptr, *unix.Winsize) error { return errors.ErrUnsupported }
