package ring

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// sharedFile returns a memfd: it has no name, lives as long as a process holds it, and its pages are allocated on use.
// Its size is sealed, as another process of the user can open it (/proc/PID/fd). Truncation would cause SIGBUS in every
// process that maps it, such as a keeper with all its sessions.
func sharedFile(size int64) (*os.File, error) {
	fd, err := unix.MemfdCreate("longterm-ring", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), "longterm-ring")
	if err := f.Truncate(size); err != nil {
		_ = f.Close()
		return nil, err
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL); err != nil {
		return nil, errors.Join(os.NewSyscallError("seal memory", err), f.Close())
	}
	return f, nil
}

// releasePages drops the pages behind b; they read as zeros until written again.
func releasePages(b []byte) error { return unix.Madvise(b, unix.MADV_REMOVE) }
