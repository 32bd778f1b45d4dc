//go:build unix

package rawio

import (
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// pair returns the two ends of a connection.
func pair(t *testing.T) (a, b *os.File) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	a, b = os.NewFile(uintptr(fds[0]), "a"), os.NewFile(uintptr(fds[1]), "b")
	t.Cleanup(func() { _, _ = a.Close(), b.Close() })
	return a, b
}

// TestReadMsg checks that a descriptor arrives with the bytes that it was sent with.
func TestReadMsg(t *testing.T) {
	from, to := pair(t)
	if _, err := from.WriteString("bytes"); err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 16)
	n, oobn, _, err := ReadMsg(to, p, make([]byte, 64))
	if err != nil || string(p[:n]) != "bytes" || oobn != 0 {
		t.Errorf("%q, %d, %v", p[:n], oobn, err)
	}
	_ = from.Close()
	if n, _, _, err := ReadMsg(to, p, nil); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %d, %v", n, err)
	}
	_ = to.Close()
	if _, _, _, err := ReadMsg(to, p, nil); !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// TestFile checks that a terminal is read and written, stops reading at a deadline, and has a size.
func TestFile(t *testing.T) {
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer tty.Close()
	if err := pty.Setsize(master, &pty.Winsize{Cols: 77, Rows: 11}); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(tty.Name(), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if s, err := WindowSize(f); supported && (err != nil || s.Col != 77 || s.Row != 11) || !supported && !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("size %v, %v", s, err)
	}
	rw := WrapFile(f)
	if _, err := rw.Write([]byte("out\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := master.WriteString("in\n"); err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 16)
	if n, err := rw.Read(p); err != nil || string(p[:n]) != "in\n" {
		t.Errorf("%q, %v", p[:n], err)
	}
	if err := f.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if _, err := rw.Read(p); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after the deadline: got %v", err)
	}
}
