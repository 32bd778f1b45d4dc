package sys

import (
	"bytes"
	"errors"
	"strconv"

	"golang.org/x/sys/unix"
)

// ProcDir is a process's directory in /proc, for frequent reads. While open, its files belong to this process or fail, even
// if the pid is reused. Its methods read into the caller's buffers and return plain system errors: reading the many
// inaccessible processes allocates nothing.
type ProcDir struct{ fd int }

// OpenProcDir opens the directory of a process. It fails if the process does not exist or is hidden.
func OpenProcDir(pid int) (ProcDir, error) {
	fd, err := retry(func() (int, error) {
		return unix.Open(root+"/"+strconv.Itoa(pid), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	return ProcDir{fd}, err
}

// Close closes the directory.
func (d ProcDir) Close() { _ = unix.Close(d.fd) }

// Read reads a file up to the size of the buffer.
func (d ProcDir) Read(name string, buf []byte) ([]byte, error) {
	fd, err := d.open(name, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	n := 0
	for n < len(buf) {
		m, err := retry(func() (int, error) { return unix.Read(fd, buf[n:]) })
		if err != nil {
			return nil, err
		}
		if m <= 0 {
			break
		}
		n += m
	}
	return buf[:n], nil
}

// ReadOnce reads a small process file with a single read.
func ReadOnce(pid int, name string, buf []byte) ([]byte, error) {
	fd, err := retry(func() (int, error) { return unix.Open(procPath(pid, name), unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	n, err := retry(func() (int, error) { return unix.Read(fd, buf) })
	return buf[:max(n, 0)], err
}

// ReadUpTo reads a file that may be long, up to about a limit. It returns what it could read.
func (d ProcDir) ReadUpTo(name string, limit int) []byte {
	fd, err := d.open(name, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	var out bytes.Buffer
	buf := make([]byte, 32<<10)
	for out.Len() < limit {
		n, err := retry(func() (int, error) { return unix.Read(fd, buf) })
		if err != nil || n <= 0 {
			break
		}
		out.Write(buf[:n])
	}
	return out.Bytes()
}

// ReadChunks calls f with each read of a file into buf until f returns false.
func (d ProcDir) ReadChunks(name string, buf []byte, f func(piece []byte) bool) error {
	fd, err := d.open(name, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	for {
		n, err := retry(func() (int, error) { return unix.Read(fd, buf) })
		if err != nil || n <= 0 || !f(buf[:n]) {
			return err
		}
	}
}

// ReadMemory fills a buffer from a process's memory. It needs permission to trace the process.
func (d ProcDir) ReadMemory(at uint64, into []byte) bool {
	fd, err := d.open("mem", 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	n, err := retry(func() (int, error) { return unix.Pread(fd, into, int64(at)) })
	return err == nil && n == len(into)
}

// ReadLink reads the target of one of its symbolic links, up to the size of the buffer.
func (d ProcDir) ReadLink(name string, buf []byte) ([]byte, error) {
	n, err := unix.Readlinkat(d.fd, name, buf)
	if err != nil {
		return nil, err
	}
	return buf[:n], nil
}

// CharDevice returns the number of the character device behind a path such as fd/0.
func (d ProcDir) CharDevice(name string) (dev uint64, ok bool) {
	var st unix.Stat_t
	_, err := retry(func() (int, error) { return 0, unix.Fstatat(d.fd, name, &st, 0) })
	return uint64(st.Rdev), err == nil && st.Mode&unix.S_IFMT == unix.S_IFCHR
}

// EachNumber calls f for each numeric name in a directory until f returns false.
func (d ProcDir) EachNumber(name string, f func(n int) bool) error {
	fd, err := d.open(name, unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return eachNumber(fd, f)
}

// EachPID calls f for each process until f returns false.
func EachPID(f func(pid int) bool) error {
	fd, err := retry(func() (int, error) { return unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return eachNumber(fd, f)
}

// eachNumber calls f for each numeric name in an open directory.
func eachNumber(fd int, f func(n int) bool) error {
	buf := make([]byte, 8<<10)
	var names []string
	for {
		n, err := retry(func() (int, error) { return unix.ReadDirent(fd, buf) })
		if err != nil || n <= 0 {
			return err
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names[:0])
		for _, name := range names {
			if n, err := strconv.Atoi(name); err == nil && !f(n) {
				return nil
			}
		}
	}
}

func (d ProcDir) open(name string, flags int) (int, error) {
	return retry(func() (int, error) { return unix.Openat(d.fd, name, unix.O_RDONLY|unix.O_CLOEXEC|flags, 0) })
}

// retry repeats a system call that a signal of the Go runtime interrupted.
func retry(f func() (int, error)) (int, error) {
	for {
		n, err := f()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
