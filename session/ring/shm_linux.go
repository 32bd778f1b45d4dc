package ring

import (
	"os"

	"golang.org/x/sys/unix"
)

// sharedFile is a memfd: it has no name, lives as long as a process holds it, and its
// pages exist only once touched.
func sharedFile(size int64) (*os.File, error) {
	fd, err := unix.MemfdCreate("longterm-ring", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), "longterm-ring")
	if err := f.Truncate(size); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// release drops the pages behind b; they read as zeros until written again.
func release(b []byte) error { return unix.Madvise(b, unix.MADV_REMOVE) }
