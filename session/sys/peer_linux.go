package sys

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// PeerOf is who is at the other end of a Unix socket, as the kernel knows it: who connected,
// or who began to listen.
func PeerOf(uc *net.UnixConn) (uid, pid int, err error) {
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
