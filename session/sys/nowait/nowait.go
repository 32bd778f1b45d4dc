//go:build unix

// Package nowait reads from and writes to descriptors that do not block, with as few turns of the processor as possible.
//
// Before each call of the system that could take long the runtime wakes its monitor thread, if that sleeps because the process
// had nothing to do, and then the monitor looks around every 20 µs for a while. Where a key or its echo wakes a process for two
// calls of a microsecond each, the monitor takes more of the processor than they do, in each process on the way. A call that
// cannot block needs nobody to watch it.
package nowait

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Conn is a connection that reads and writes so, where the system lets it: else c itself.
func Conn(c net.Conn) net.Conn {
	u, ok := c.(*net.UnixConn)
	if !ok || !works {
		return c
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return c
	}
	return &conn{u, stream{raw}}
}

type conn struct {
	*net.UnixConn
	stream
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.stream.Read(p)
	return n, c.told("read", err)
}

func (c *conn) Write(p []byte) (int, error) {
	n, err := c.stream.Write(p)
	return n, c.told("write", err)
}

// told is an error as other connections return it.
func (c *conn) told(op string, err error) error {
	var told *net.OpError
	if err == nil || errors.Is(err, io.EOF) || errors.As(err, &told) {
		return err
	}
	return &net.OpError{Op: op, Net: "unix", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}

// File reads from and writes to a file so, where the system lets it. The file must not block: a terminal, a pipe.
func File(f *os.File) io.ReadWriter {
	raw, err := f.SyscallConn()
	if err != nil || !works {
		return f
	}
	return &stream{raw}
}

// stream is a descriptor that the runtime waits for.
type stream struct{ raw syscall.RawConn }

func (s stream) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	if outer := s.raw.Read(func(fd uintptr) bool {
		n, err = Read(int(fd), p)
		return !errors.Is(err, syscall.EAGAIN)
	}); outer != nil {
		return 0, outer
	}
	switch {
	case err != nil:
		return 0, os.NewSyscallError("read", err)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

func (s stream) Write(p []byte) (n int, err error) {
	outer := s.raw.Write(func(fd uintptr) bool {
		for n < len(p) {
			var more int
			if more, err = Write(int(fd), p[n:]); err != nil {
				return !errors.Is(err, syscall.EAGAIN)
			}
			n += more
		}
		return true
	})
	if outer != nil {
		return n, outer
	}
	return n, os.NewSyscallError("write", err)
}

// WindowSize is the size of a terminal; errors.ErrUnsupported: it is to be asked for in another way.
func WindowSize(f *os.File) (*unix.Winsize, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	s := &unix.Winsize{}
	if outer := raw.Control(func(fd uintptr) { err = windowSize(fd, s) }); outer != nil {
		return nil, outer
	}
	return s, os.NewSyscallError("TIOCGWINSZ", err)
}
