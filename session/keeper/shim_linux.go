package keeper

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/keeper/wire"
)

// shimTimeout bounds, in seconds, how long a shim may send nothing.
const shimTimeout = 20

// shimSocket creates the socket to a shim: our end, and the one that it inherits.
func shimSocket() (ours, theirs int, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, -1, os.NewSyscallError("socketpair", err)
	}
	limit := unix.Timeval{Sec: shimTimeout}
	if err := unix.SetsockoptTimeval(pair[0], unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit); err != nil {
		return -1, -1, errors.Join(os.NewSyscallError("setsockopt", err), unix.Close(pair[0]), unix.Close(pair[1]))
	}
	return pair[0], pair[1], nil
}

// shimResult is a shim's report.
type shimResult struct {
	checked bool // its executions are checked
	report  string
}

// awaitShim talks to a shim (package wire, shim.go), stores its listener and lets it continue. It removes a session
// whose program was not executed.
func (k *Keeper) awaitShim(c *child) (a shimResult, err error) {
	fd := c.shimSocket
	defer unix.Close(fd)
	defer func() {
		if err != nil {
			if kerr := k.signal(c, syscall.SIGKILL, wire.ScopeGroup); kerr != nil {
				k.log.Warn("end a shim", "session", c.id, "err", kerr)
			}
			<-k.release(c) // the name is free once the caller gets the error
		}
	}()
	said := false
	for buf := make([]byte, wire.MaxShim); ; {
		kind, text, passed, err := readShim(fd, buf)
		switch {
		case err != nil:
			return a, err
		case kind == 0 && said: // closed by the execution
			return a, nil
		case kind == 0:
			return a, errors.New("it ended before its program was executed")
		case kind == wire.ShimListener && passed != nil:
			k.addListener(c.id, c.pid, passed)
			a.checked = true
			continue
		}
		if passed != nil {
			_ = passed.Close()
		}
		switch {
		case kind == wire.ShimReport && !said:
			a.report, said = text, true
			if _, err := unix.Write(fd, []byte{wire.ShimGo}); err != nil {
				return a, os.NewSyscallError("write", err)
			}
		case kind == wire.ShimError:
			return a, shimError(text)
		}
	}
}

// readShim reads a message; kind 0 is the end.
func readShim(fd int, buf []byte) (kind byte, text string, passed *os.File, err error) {
	oob := make([]byte, unix.CmsgSpace(4))
	for {
		n, oobn, _, _, err := unix.Recvmsg(fd, buf, oob, unix.MSG_CMSG_CLOEXEC)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return 0, "", nil, fmt.Errorf("no message for %d s", shimTimeout)
		case errors.Is(err, unix.ECONNRESET), n == 0 && err == nil:
			return 0, "", nil, nil
		case err != nil:
			return 0, "", nil, os.NewSyscallError("recvmsg", err)
		}
		return buf[0], string(buf[1:n]), passedFile(oob[:oobn]), nil
	}
}

// passedFile returns the single descriptor of a message, or nil.
func passedFile(oob []byte) *os.File {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil || len(msgs) != 1 {
		return nil
	}
	fds, err := unix.ParseUnixRights(&msgs[0])
	if err != nil || len(fds) != 1 {
		return nil
	}
	return os.NewFile(uintptr(fds[0]), "seccomp listener")
}

// shimFailure is the error of a shim that did not execute its program.
type shimFailure struct {
	errno syscall.Errno
	text  string
}

// shimError parses a shim's error message.
func shimError(text string) error {
	number, text, _ := strings.Cut(text, " ")
	n, _ := strconv.ParseUint(number, 10, 16) // 0 if missing
	return shimFailure{syscall.Errno(n), text}
}

// Error returns the shim's message.
func (e shimFailure) Error() string { return e.text }

// Unwrap returns the system's error, or nil.
func (e shimFailure) Unwrap() error {
	if e.errno == 0 {
		return nil
	}
	return e.errno
}
