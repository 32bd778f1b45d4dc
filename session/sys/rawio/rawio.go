//go:build unix

// Package rawio reads and writes non-blocking descriptors with minimal processor use.
//
// Before a system call that may block, the runtime wakes its monitor thread if the process was idle; the monitor then
// checks every 20 µs for a while. When a key or its echo wakes a process for two calls of a microsecond each, the
// monitor costs more than the calls, in each process on the way. A call that cannot block needs no monitor.
package rawio

import (
	"errors"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// WrapFile returns a reader and writer that bypass the runtime if supported, else f. The file must be non-blocking: a terminal,
// a pipe.
func WrapFile(f *os.File) io.ReadWriter {
	raw, err := f.SyscallConn()
	if err != nil || !supported {
		return f
	}
	return &Stream{raw}
}

// Supported states whether calls bypass the runtime.
const Supported = supported

// Stream reads and writes a descriptor; the runtime waits for its readiness.
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

// WindowSize returns the size of a terminal. It returns errors.ErrUnsupported if the caller must use another call.
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

// RawError converts an error of a file's syscall.RawConn to that of the file's methods: a RawConn has another error than
// os.ErrClosed after Close.
func RawError(f *os.File, err error) error {
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	if _, closed := f.Read(nil); errors.Is(closed, os.ErrClosed) {
		return closed
	}
	return err
}
