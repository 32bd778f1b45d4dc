//go:build unix

package ring

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps size bytes of a file into memory, shared.
func mapFile(f *os.File, size int) ([]byte, error) {
	// SyscallConn, not Fd: Fd would switch a descriptor to blocking mode.
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	var mem []byte
	var mapErr error
	if err := raw.Control(func(fd uintptr) {
		mem, mapErr = unix.Mmap(int(fd), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}); err != nil {
		return nil, err
	}
	return mem, os.NewSyscallError("mmap", mapErr)
}

// unmap unmaps what mapFile mapped.
func unmap(mem []byte) error { return os.NewSyscallError("munmap", unix.Munmap(mem)) }
