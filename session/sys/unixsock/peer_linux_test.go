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

const nobody = 65534

// A socket that another user serves is refused before anything is sent to him.
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
		l, err = listenAs(path, nobody)
	} else { // we are the other user
		ourUID = func() int { return os.Geteuid() + 1 }
		t.Cleanup(func() { ourUID = os.Geteuid })
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
		t.Errorf("connected to %v, %v", c, err)
	}
	if b := <-got; b != "" {
		t.Errorf("he was sent %q", b)
	}
}

// listenAs listens as another user: the kernel asks the thread that begins to listen. The
// thread ends with its goroutine.
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
