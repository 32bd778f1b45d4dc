//go:build unix

package nowait

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/creack/pty"
)

// pair are the two ends of a connection.
func pair(t *testing.T) (a, b net.Conn) {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if a, err = net.Dial("unix", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if b, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = a.Close(), b.Close() })
	return a, b
}

// More than the socket takes at once comes as it was sent, to who waits for it; then comes the end.
func TestConnCarriesAll(t *testing.T) {
	a, b := pair(t)
	sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	go func() {
		_, _ = Conn(a).Write(sent)
		_ = a.Close()
	}()
	if got, err := io.ReadAll(Conn(b)); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d bytes of %d, %v", len(got), len(sent), err)
	}
	if n, err := Conn(b).Read(nil); n != 0 || err != nil {
		t.Errorf("nothing is read: %d, %v", n, err)
	}
}

// Errors are those of any connection: what is closed, late, or gone is known by them.
func TestConnErrors(t *testing.T) {
	a, b := pair(t)
	late := Conn(b)
	if err := late.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if _, err := late.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("late: %v", err)
	}
	_ = b.Close()
	if _, err := late.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	var told *net.OpError
	if _, err := Conn(a).Write([]byte("x")); !errors.As(err, &told) || told.Op != "write" {
		t.Errorf("gone: %v", err)
	}
}

// A descriptor comes with the bytes it was sent with.
func TestReadMsg(t *testing.T) {
	a, b := pair(t)
	from, to := a.(*net.UnixConn), b.(*net.UnixConn)
	if _, _, err := from.WriteMsgUnix([]byte("bytes"), nil, nil); err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 16)
	n, oobn, _, err := ReadMsg(to, p, make([]byte, 64))
	if err != nil || string(p[:n]) != "bytes" || oobn != 0 {
		t.Errorf("%q, %d, %v", p[:n], oobn, err)
	}
	_ = a.Close()
	if n, _, _, err := ReadMsg(to, p, nil); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %d, %v", n, err)
	}
}

// A terminal is read and written, told to stop reading, and says its size.
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
	if s, err := WindowSize(f); works && (err != nil || s.Col != 77 || s.Row != 11) || !works && !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("size %v, %v", s, err)
	}
	rw := File(f)
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
		t.Errorf("told to stop: %v", err)
	}
}
