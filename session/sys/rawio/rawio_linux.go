//go:build linux && !race

package rawio

import (
	"errors"
	"io"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// supported states that calls bypass the runtime.
const supported = true

// maxWrite bounds one write, in bytes: a longer one would keep the runtime from this processor.
const maxWrite = 64 << 10

// Read calls read(2) on a non-blocking descriptor; EAGAIN means no data.
func Read(fd int, p []byte) (int, error) {
	return rawCall(unix.SYS_READ, fd, p)
}

// Write calls write(2) on a non-blocking descriptor; it may write only part of p.
func Write(fd int, p []byte) (int, error) {
	return rawCall(unix.SYS_WRITE, fd, p[:min(len(p), maxWrite)])
}

// rawCall makes a system call without the runtime and repeats it after EINTR.
func rawCall(number uintptr, fd int, p []byte) (int, error) {
	for {
		n, _, errno := unix.RawSyscall(number, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
		switch {
		case errno == 0:
			return int(n), nil
		case !errors.Is(errno, unix.EINTR):
			return 0, errno
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
		n, oobn, flags, err = recvmsg(fd, p, oob)
		return !errors.Is(err, unix.EAGAIN)
	}); outer != nil {
		return 0, 0, 0, RawError(c, outer)
	}
	if n == 0 && err == nil {
		return 0, oobn, flags, io.EOF
	}
	if err != nil {
		return n, oobn, flags, os.NewSyscallError("recvmsg", err)
	}
	return n, oobn, flags, nil
}

// recvmsg receives one message.
func recvmsg(fd uintptr, p, oob []byte) (n, oobn, flags int, err error) {
	part := unix.Iovec{Base: unsafe.SliceData(p)}
	part.SetLen(len(p))
	msg := unix.Msghdr{Iov: &part, Control: unsafe.SliceData(oob)}
	msg.SetIovlen(1)
	msg.SetControllen(len(oob))
	for {
		got, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&msg)), unix.MSG_CMSG_CLOEXEC)
		switch {
		case errno == 0:
			return int(got), int(msg.Controllen), int(msg.Flags), nil
		case !errors.Is(errno, unix.EINTR):
			return 0, 0, 0, errno
		}
	}
}

// SendFile calls sendfile(2) from the position of a memory file to a non-blocking descriptor.
func SendFile(to, file, n int) (int, error) {
	sent, _, errno := unix.RawSyscall6(unix.SYS_SENDFILE, uintptr(to), uintptr(file), 0, uintptr(n), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(sent), nil
}

// windowSize reads a terminal's size.
func windowSize(fd uintptr, s *unix.Winsize) error {
	if _, _, errno := unix.RawSyscall(unix.SYS_IOCTL, fd, unix.TIOCGWINSZ, uintptr(unsafe.Pointer(s))); errno != 0 {
		return errno
	}
	return nil
}
