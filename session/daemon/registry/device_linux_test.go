package registry

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// watched reports whether events of a descriptor wake this process.
func watched(t *testing.T, fd int) bool {
	t.Helper()
	all, err := filepath.Glob("/proc/self/fdinfo/*")
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	for _, name := range all {
		info, _ := os.ReadFile(name) // one may have been closed since
		for line := range strings.Lines(string(info)) {
			if f := strings.Fields(line); len(f) > 1 && f[0] == "tfd:" && f[1] == strconv.Itoa(fd) {
				return true
			}
		}
	}
	return false
}

func openTerminal(t *testing.T) (of *terminal, tty *os.File) {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tty.Close() })
	if _, err := term.MakeRaw(int(tty.Fd())); err != nil { // else unread output would be lost instead of waited for
		t.Fatal(err)
	}
	raw, err := master.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(raw.Control(func(fd uintptr) { err = unix.SetNonblock(int(fd), true) }), err); err != nil {
		t.Fatal(err)
	}
	if of, err = newTerminal(master); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = of.Close() })
	return of, tty
}

// TestTerminalIsNotWatched checks that output and reads of a program wake only its keeper, not the daemon, until a
// write must wait.
func TestTerminalIsNotWatched(t *testing.T) {
	t.Parallel()
	of, _ := openTerminal(t)
	if err := of.control(func(fd int) error {
		if watched(t, fd) {
			t.Error("output of a program wakes the daemon")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := of.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := of.await(func(fd uintptr) bool {
		if !watched(t, int(fd)) {
			t.Error("a waiting write is not woken")
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
}

// TestTerminalWriteWaits checks that a write waits for space until its deadline, or until the terminal is closed; then
// the terminal is not used again.
func TestTerminalWriteWaits(t *testing.T) {
	t.Parallel()
	of, _ := openTerminal(t)
	ends := make(chan error, 1)
	write := func() {
		_, err := of.Write(make([]byte, 1<<20)) // without a reader a terminal has space for a few thousand
		ends <- err
	}
	go write()
	if err := of.SetWriteDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := <-ends; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("late: %v", err)
	}
	if err := of.SetWriteDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	go write()
	if err := of.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ends; !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	if err := of.control(func(int) error { return nil }); !errors.Is(err, os.ErrClosed) {
		t.Errorf("afterwards: %v", err)
	}
	if err := of.Close(); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

// TestTerminalIsClosedInUse checks that closing a terminal does not wait for queries of it or for input.
func TestTerminalIsClosedInUse(t *testing.T) {
	t.Parallel()
	of, tty := openTerminal(t)
	if err := of.control(func(fd int) error {
		if err := of.control(func(int) error { return nil }); err != nil {
			t.Errorf("concurrent call: %v", err)
		}
		if err := of.Close(); err != nil {
			t.Errorf("closed: %v", err)
		}
		if err := of.control(func(int) error { return nil }); !errors.Is(err, os.ErrClosed) {
			t.Errorf("after it was closed: %v", err)
		}
		_, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		return err
	}); err != nil {
		t.Errorf("in use: %v", err)
	}
	if n, err := tty.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("in the end it is not hung up: %d, %v", n, err)
	}
}

// TestNoInputHasNoWriteDeadline checks that setting a write deadline on pipes without input fails.
func TestNoInputHasNoWriteDeadline(t *testing.T) {
	t.Parallel()
	if err := (&device{pipe: true}).SetWriteDeadline(time.Now()); !errors.Is(err, errNoInput) {
		t.Errorf("got %v", err)
	}
}
