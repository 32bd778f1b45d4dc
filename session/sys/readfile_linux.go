package sys

import (
	"bytes"
	"io/fs"

	"golang.org/x/sys/unix"
)

// readFile is os.ReadFile without the poller: files of /proc are always ready, and a process in execve may wait for the read.
func readFile(name string) ([]byte, error) { return readAll(name, false) }

// readRecord is readFile for files that the kernel returns in one read: a short read is complete.
func readRecord(name string) ([]byte, error) { return readAll(name, true) }

// readAll reads a file; with isOneRead a short read ends it.
func readAll(name string, isOneRead bool) ([]byte, error) {
	fd, err := retry(func() (int, error) { return unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	defer unix.Close(fd)
	var buf [512]byte // most files are shorter
	b := buf[:0]
	for {
		n, err := retry(func() (int, error) { return unix.Read(fd, b[len(b):cap(b)]) })
		if err != nil {
			return bytes.Clone(b), &fs.PathError{Op: "read", Path: name, Err: err}
		}
		if n <= 0 {
			return bytes.Clone(b), nil
		}
		if b = b[:len(b)+n]; len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		} else if isOneRead {
			return bytes.Clone(b), nil
		}
	}
}
