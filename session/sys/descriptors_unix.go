//go:build unix

package sys

import (
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// DescriptorLimit returns how many files this process may open, and the limit up to which it may raise that number.
func DescriptorLimit() (soft, hard uint64, err error) {
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &lim); err != nil {
		return 0, 0, os.NewSyscallError("getrlimit", err)
	}
	return uint64(lim.Cur), uint64(lim.Max), nil
}

// FreeDescriptors returns how many more files this process may open, derived from a file that was just opened: the system
// always uses the lowest free descriptor.
func FreeDescriptors(opened *os.File) (int, error) {
	limit, _, err := DescriptorLimit()
	if err != nil {
		return 0, err
	}
	raw, err := opened.SyscallConn()
	if err != nil {
		return 0, err
	}
	free := 0
	err = raw.Control(func(fd uintptr) { free = int(min(limit, math.MaxInt32)) - int(fd) })
	return free, err
}

// RaiseLimit raises one of this process's limits (unix.RLIMIT_…) to its maximum.
func RaiseLimit(which int) error {
	var lim unix.Rlimit
	if err := unix.Getrlimit(which, &lim); err != nil || lim.Cur >= lim.Max {
		return os.NewSyscallError("getrlimit", err)
	}
	lim.Cur = lim.Max
	return os.NewSyscallError("setrlimit", unix.Setrlimit(which, &lim))
}

// LimitFileSize sets the limit on the size of each file that this process and its children write, in bytes.
func LimitFileSize(size int64) error {
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &lim); err != nil || size >= int64(min(lim.Max, math.MaxInt64)) {
		return os.NewSyscallError("getrlimit", err)
	}
	lim.Cur, lim.Max = uint64(size), uint64(size)
	return os.NewSyscallError("setrlimit", unix.Setrlimit(unix.RLIMIT_FSIZE, &lim))
}
