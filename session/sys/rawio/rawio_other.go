//go:build unix && (!linux || race)

package rawio

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// supported is false: the race detector must see calls, since they order goroutines, and other systems allow system calls
// only through their library.
const supported = false

// Read calls read(2) on a non-blocking descriptor; EAGAIN means no data.
func Read(fd int, p []byte) (int, error) {
	for {
		n, err := unix.Read(fd, p)
		if !errors.Is(err, unix.EINTR) {
			return max(n, 0), err
		}
	}
}

// Write calls write(2) on a non-blocking descriptor; it may write only part of p.
func Write(fd int, p []byte) (int, error) {
	for {
		n, err := unix.Write(fd, p)
		if !errors.Is(err, unix.EINTR) {
			return max(n, 0), err
		}
	}
}

// ReadMsg calls recvmsg(2) on a connection: bytes, and ancillary data.
func ReadMsg(c *os.File, p, oob []byte) (n, oobn, flags int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, 0, 0, err
	}
	if outer := raw.Read(func(fd uintptr) bool {
		n, oobn, flags, err = recvmsg(int(fd), p, oob)
		return !errors.Is(err, unix.EAGAIN)
	}); outer != nil {
		return 0, 0, 0, RawError(c, outer)
	}
	if n == 0 && err == nil {
		return 0, oobn, flags, io.EOF
	}
	return n, oobn, flags, os.NewSyscallError("recvmsg", err)
}

// recvmsg receives one message.
func recvmsg(fd int, p, oob []byte) (n, oobn, flags int, err error) {
	for {
		n, oobn, flags, _, err = unix.Recvmsg(fd, p, oob, cloexecFlag)
		if !errors.Is(err, unix.EINTR) {
			return max(n, 0), oobn, flags, err
		}
	}
}

// windowSize is unsupported here.
func windowSize(uintptr, *unix.Winsize) error { return errors.ErrUnsupported }
