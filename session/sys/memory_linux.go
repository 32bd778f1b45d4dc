package sys

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// ReadPath reads a path in a process's memory; empty: there is none to be read.
func ReadPath(pid int, at uint64) string {
	path, whole, err := readText(memoryOf(pid), at, unix.PathMax)
	if err != nil || !whole {
		return ""
	}
	return path
}

// ReadBytes reads a process's memory, as much of it as there is.
func ReadBytes(pid int, at uint64, n int) []byte {
	if n <= 0 {
		return nil
	}
	b := make([]byte, n)
	got, err := memoryOf(pid)(at, b)
	if err != nil || got < 0 {
		return nil
	}
	return b[:got]
}

// DescriptorTarget is what a process's descriptor is of: a path, or the kernel's word for it.
func DescriptorTarget(pid, fd int) (string, error) { return readLink(pid, "fd/"+strconv.Itoa(fd)) }
