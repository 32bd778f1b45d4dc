package unixsock

import "golang.org/x/sys/unix"

// socketFlags create close-on-exec, non-blocking sockets.
const socketFlags = unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK

// socket creates a Unix socket.
func socket() (int, error) { return unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|socketFlags, 0) }

// accept accepts a connection.
func accept(listener int) (int, error) {
	fd, _, err := unix.Accept4(listener, socketFlags)
	return fd, err
}
