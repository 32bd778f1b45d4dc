package sys

import (
	"bytes"
	"io/fs"

	"golang.org/x/sys/unix"
)

// readFile is os.ReadFile without a poller: files of /proc are always ready, and what is about to be executed waits for
// what is read there.
func readFile(name string) ([]byte, error) { return readAll(name, false) }

// readRecord is readFile of what the kernel gives at once: less than there is room for is all of it, and the end is not
// asked for.
func readRecord(name string) ([]byte, error) { return readAll(name, true) }

func readAll(name string, atOnce bool) ([]byte, error) {
	fd, err := retry(func() (int, error) { return unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	defer unix.Close(fd)
	var room [512]byte // most of them are shorter by far
	b := room[:0]
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
		} else if atOnce {
			return bytes.Clone(b), nil
		}
	}
}
