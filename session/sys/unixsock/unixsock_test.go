//go:build unix

package unixsock

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shortDir returns a directory with a short path.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "lt")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// TestConnections checks that bytes go both ways, on a path of any length, until one side closes.
func TestConnections(t *testing.T) {
	long := filepath.Join(shortDir(t), strings.Repeat("d", 60), strings.Repeat("e", 60))
	if err := os.MkdirAll(long, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(shortDir(t), "s"), filepath.Join(long, "s")} {
		l, err := Listen(path)
		if err != nil {
			t.Fatal(err)
		}
		answered := make(chan error, 1)
		go func() {
			c, err := l.Accept()
			if err == nil {
				_, err = io.CopyN(c, c, 5)
				err = errors.Join(err, c.Close())
			}
			answered <- err
		}()
		c, err := Dial(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.WriteString("bytes"); err != nil {
			t.Error(err)
		}
		if got, err := io.ReadAll(c); string(got) != "bytes" || err != nil {
			t.Errorf("%s: %q, %v", path, got, err)
		}
		if err := errors.Join(<-answered, c.Close(), l.Close()); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("got no socket after the listener's close: %v", err)
		}
		if _, err := Dial(path); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("without a listener: got %v", err)
		}
	}
	if _, err := Dial(filepath.Join(long, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing socket: got %v", err)
	}
}

// TestWaits_End checks that pending calls end on Close and at their deadline.
func TestWaits_End(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Dial(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("late: %v", err)
	}
	there, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close()
	ended := make(chan error)
	go func() {
		_, err := l.Accept()
		ended <- err
	}()
	_ = l.Close()
	if err := <-ended; !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// TestListener_Backlog checks that the backlog exceeds the 128 of many C programs if the system allows it.
func TestListener_Backlog(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	many := 100
	if runtime.GOOS == "linux" {
		many = 200
	}
	for i := range many {
		c, err := Dial(path)
		if err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		defer c.Close()
	}
}

// TestAdoptListener checks that AdoptListener returns the listener of another execution and rejects a descriptor that
// is no socket.
func TestAdoptListener(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	fd, err := syscall.Dup(int(l.File().Fd()))
	if err != nil {
		t.Fatal(err)
	}
	next, err := AdoptListener(uintptr(fd))
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	c, err := Dial(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if there, err := next.Accept(); err != nil {
		t.Error(err)
	} else {
		_ = there.Close()
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if _, err := AdoptListener(null.Fd()); !errors.Is(err, syscall.ENOTSOCK) {
		t.Errorf("no socket: %v", err)
	}
}
