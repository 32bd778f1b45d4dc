package sys

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// PeerOf returns the process that connected to or listens on a Unix socket, as reported by the kernel.
func PeerOf(uc syscall.Conn) (uid, pid int, err error) {
	raw, err := uc.SyscallConn()
	if err != nil {
		return -1, 0, err
	}
	var cred *unix.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return -1, 0, err
	}
	if credErr != nil {
		return -1, 0, fmt.Errorf("peer credentials: %w", credErr)
	}
	return int(cred.Uid), int(cred.Pid), nil
}

// IsPeerAlive reports whether the process of PeerOf still exists, so that its pid was not reused. It returns true on kernels
// before 6.5.
func IsPeerAlive(uc syscall.Conn) bool {
	raw, err := uc.SyscallConn()
	if err != nil {
		return false
	}
	isAlive := false
	err = raw.Control(func(fd uintptr) {
		pidfd, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PEERPIDFD)
		if err != nil {
			isAlive = errors.Is(err, unix.ENOPROTOOPT)
			return
		}
		isAlive = !errors.Is(unix.PidfdSendSignal(pidfd, 0, nil, 0), unix.ESRCH)
		_ = unix.Close(pidfd)
	})
	return err == nil && isAlive
}
