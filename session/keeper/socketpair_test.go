//go:build unix

package keeper

import (
	"os"
	"syscall"
	"testing"
)

// socketPair returns two connected Unix sockets.
func socketPair(t *testing.T) (a, b *os.File) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	conns := make([]*os.File, 2)
	for i, fd := range fds {
		if err := syscall.SetNonblock(fd, true); err != nil {
			t.Fatal(err)
		}
		f := os.NewFile(uintptr(fd), "socket")
		conns[i] = f
		t.Cleanup(func() { _ = f.Close() })
	}
	return conns[0], conns[1]
}

// closeWrite closes the writing side of a socket.
func closeWrite(t *testing.T, f *os.File) {
	t.Helper()
	raw, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if outer := raw.Control(func(fd uintptr) { err = syscall.Shutdown(int(fd), syscall.SHUT_WR) }); outer != nil || err != nil {
		t.Fatal(outer, err)
	}
}
