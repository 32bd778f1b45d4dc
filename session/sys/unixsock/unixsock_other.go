//go:build unix && !linux

package unixsock

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// socket creates a close-on-exec, non-blocking Unix socket.
func socket() (int, error) {
	return openCloexec(func() (int, error) { return unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0) })
}

// accept accepts a connection.
func accept(listener int) (int, error) {
	return openCloexec(func() (int, error) {
		fd, _, err := unix.Accept(listener)
		return fd, err
	})
}

// openCloexec opens a close-on-exec, non-blocking descriptor while no child is being forked.
func openCloexec(open func() (int, error)) (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fd, err := open()
	if err != nil {
		return -1, err
	}
	unix.CloseOnExec(fd)
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}
