package unixsock

import "golang.org/x/sys/unix"

const flags = unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK

func socket() (int, error) { return unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|flags, 0) }

func accept(listener int) (int, error) {
	fd, _, err := unix.Accept4(listener, flags)
	return fd, err
}
