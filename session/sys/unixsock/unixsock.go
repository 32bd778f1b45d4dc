//go:build unix

// Package unixsock provides Unix sockets as files: with os's support for polled files (deadlines, a Close that ends pending
// calls), and without package net. That package initializes late, after half of all linked packages, and a keeper would hold
// their memory for the life of its sessions (see cmd/internal/keepermain). Package netsock provides net.Conn and
// net.Listener.
package unixsock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/session/sys/rawio"
)

// maxPath is the longest path that fits sockaddr_un everywhere (104 bytes on the BSDs, 108 on Linux, with the final NUL).
const maxPath = 103

// backlog is the number of connections that may wait to be accepted; the system reduces it to its own limit.
const backlog = 1<<15 - 1

// Listener accepts connections.
type Listener struct{ file *os.File }

// Listen listens on a Unix socket at path, which may have any length. Close keeps the socket's name: a successor may have
// taken it over.
func Listen(path string) (*Listener, error) {
	f, err := openSocket(path, func(fd int, to unix.Sockaddr) error {
		if err := unix.Bind(fd, to); err != nil {
			return os.NewSyscallError("bind", err)
		}
		return os.NewSyscallError("listen", unix.Listen(fd, backlog))
	})
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	return &Listener{f}, nil
}

// AdoptListener returns a listener that an earlier execution of this process left open.
func AdoptListener(fd uintptr) (*Listener, error) {
	if _, err := unix.Getsockname(int(fd)); err != nil {
		return nil, os.NewSyscallError("getsockname", err)
	}
	if err := unix.SetNonblock(int(fd), true); err != nil {
		return nil, os.NewSyscallError("setnonblock", err)
	}
	return &Listener{os.NewFile(fd, "listener")}, nil
}

// Accept waits for the next connection. It returns os.ErrClosed after Close.
func (l *Listener) Accept() (*os.File, error) {
	raw, err := l.file.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd := -1
	outer := raw.Read(func(listener uintptr) bool {
		for {
			fd, err = accept(int(listener))
			// Ignore peers that hung up before accept (accept(2)).
			if !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.ECONNABORTED) {
				return !errors.Is(err, unix.EAGAIN)
			}
		}
	})
	if outer != nil {
		return nil, rawio.RawError(l.file, outer)
	}
	if err != nil {
		return nil, os.NewSyscallError("accept", err)
	}
	return os.NewFile(uintptr(fd), "connection"), nil
}

// Close closes the listener and ends a pending Accept.
func (l *Listener) Close() error { return l.file.Close() }

// File returns the socket. The listener still owns it.
func (l *Listener) File() *os.File { return l.file }

// ErrForeign is returned for a socket of another user: that user would receive data such as an environment.
var ErrForeign = errors.New("the socket is served by another user; nothing was sent")

// ownUID returns the user that must serve a connection. Tests replace it.
var ownUID = os.Geteuid

// Dial connects to the Unix socket at path, which may have any length. The socket must belong to our own user.
func Dial(path string) (*os.File, error) {
	f, err := openSocket(path, func(fd int, to unix.Sockaddr) error {
		return os.NewSyscallError("connect", unix.Connect(fd, to))
	})
	if err != nil {
		return nil, fmt.Errorf("dial unix %s: %w", path, err)
	}
	uid, _, err := sys.PeerOf(f)
	if err == nil && uid != ownUID() {
		err = fmt.Errorf("%w: uid %d serves %s, you are uid %d", ErrForeign, uid, path, ownUID())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// openSocket returns a new socket after use has bound or connected it to an address for path.
func openSocket(path string, use func(fd int, at unix.Sockaddr) error) (*os.File, error) {
	fd, err := socket()
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	err = withShortPath(path, func(p string) error { return use(fd, &unix.SockaddrUnix{Name: p}) })
	if err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// withShortPath calls f with a name for path that fits a socket address: the path itself, or one through a descriptor of its
// directory.
func withShortPath(path string, f func(string) error) error {
	if len(path) <= maxPath {
		return f(path)
	}
	if _, ok := sys.OwnFilePath(0); !ok {
		return fmt.Errorf("socket path %s is longer than %d bytes; set LONGTERM_DIR to a shorter directory", path, maxPath)
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	short, _ := sys.OwnFilePath(dir.Fd())
	return f(short + "/" + filepath.Base(path))
}
