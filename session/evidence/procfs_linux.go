package evidence

import (
	"errors"
	"strconv"

	"golang.org/x/sys/unix"
)

// process is a process's directory in /proc. While it is open its files are those of
// this process, or fail: a pid that was given to another process meanwhile does no harm.
type process struct {
	dir int
	pid int
	stat
}

// openProcess fails if there is no such process, or it may not be seen.
func (p *Prober) openProcess(pid int) (process, bool) {
	dir, err := retry(func() (int, error) {
		return unix.Open("/proc/"+strconv.Itoa(pid), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return process{}, false
	}
	b, err := p.readAt(dir, "stat")
	if err == nil {
		if s, ok := parseStat(b); ok {
			p.name = append(p.name[:0], s.comm...)
			s.comm = p.name // p.buf is used again
			return process{dir: dir, pid: pid, stat: s}, true
		}
	}
	_ = unix.Close(dir)
	return process{}, false
}

func (pr *process) close() { _ = unix.Close(pr.dir) }

// readAt reads a file of /proc, as far as the prober's buffer goes: up to maxFile. The
// result is valid until the next readAt.
func (p *Prober) readAt(dir int, name string) ([]byte, error) {
	fd, err := retry(func() (int, error) { return unix.Openat(dir, name, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	n := 0
	for n < len(p.buf) {
		m, err := retry(func() (int, error) { return unix.Read(fd, p.buf[n:]) })
		if err != nil {
			return nil, err
		}
		if m <= 0 {
			break
		}
		n += m
	}
	return p.buf[:n], nil
}

// readMemory reads from a process's memory. It takes the right to trace the process.
func readMemory(dir int, at uint64, into []byte) bool {
	fd, err := retry(func() (int, error) { return unix.Openat(dir, "mem", unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	n, err := retry(func() (int, error) { return unix.Pread(fd, into, int64(at)) })
	return err == nil && n == len(into)
}

// entries calls f for each number among the names of a directory until f returns false.
func entries(dir int, name string, f func(n int) bool) error {
	fd, err := retry(func() (int, error) {
		return unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return err
	}
	defer unix.Close(fd)
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

// retry repeats a system call that a signal of the Go runtime interrupted.
func retry(f func() (int, error)) (int, error) {
	for {
		n, err := f()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
