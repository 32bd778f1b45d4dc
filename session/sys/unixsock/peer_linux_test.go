package unixsock

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

const nobodyUID = 65534

// TestDial_RefusesForeignSocket checks that dial rejects a socket of another user before it sends anything.
//
// FAULT: A17
func TestDial_RefusesForeignSocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "lt")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "s")
	var l *Listener
	if os.Geteuid() == 0 {
		l, err = listenAs(path, nobodyUID)
	} else { // the test itself runs as the other user
		ownUID = func() int { return os.Geteuid() + 1 }
		t.Cleanup(func() { ownUID = os.Geteuid })
		l, err = Listen(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	got := make(chan string)
	go func() {
		c, err := l.Accept()
		if err != nil {
			got <- err.Error()
			return
		}
		b, _ := io.ReadAll(c)
		got <- string(b)
	}()
	if c, err := Dial(path); !errors.Is(err, ErrForeign) {
		_ = c.Close()
		t.Errorf("got connection %v, %v", c, err)
	}
	if b := <-got; b != "" {
		t.Errorf("the other user received %q", b)
	}
}

// listenAs listens as another user: the kernel records the user of the thread that calls listen. The thread ends with its
// goroutine.
func listenAs(path string, uid int) (l *Listener, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)); errno != 0 {
			err = errno
			return
		}
		l, err = Listen(path)
	}()
	<-done
	return l, err
}
