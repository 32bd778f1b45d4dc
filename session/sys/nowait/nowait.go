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
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// File reads from and writes to a file so, where the system lets it. The file must not block: a terminal, a pipe.
func File(f *os.File) io.ReadWriter {
	raw, err := f.SyscallConn()
	if err != nil || !works {
		return f
	}
	return &Stream{raw}
}

// Works says that calls are made without the runtime's knowledge.
const Works = works

// Stream is a descriptor that the runtime waits for.
type Stream struct{ Raw syscall.RawConn }

// Read implements io.Reader.
func (s Stream) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	if outer := s.Raw.Read(func(fd uintptr) bool {
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

// Write implements io.Writer.
func (s Stream) Write(p []byte) (n int, err error) {
	outer := s.Raw.Write(func(fd uintptr) bool {
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

// RawError is an error of a syscall.RawConn of a file, as the file's own methods tell it: os.ErrClosed where it was closed, which a
// RawConn says in words of its own.
func RawError(f *os.File, err error) error {
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	if _, closed := f.Read(nil); errors.Is(closed, os.ErrClosed) {
		return closed
	}
	return err
}
