package sys

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// openPTY returns a terminal's two ends.
func openPTY(t *testing.T) (master, slave int) {
	t.Helper()
	master, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skip("no PTY here: ", err)
	}
	t.Cleanup(func() { _ = unix.Close(master) })
	if err := unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	tty, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(master), unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC)
	if errno != 0 {
		t.Skip("no TIOCGPTPEER here: ", errno)
	}
	t.Cleanup(func() { _ = unix.Close(int(tty)) })
	return master, int(tty)
}

func TestTerminal(t *testing.T) {
	master, slave := openPTY(t)
	if err := SetSize(master, 91, 17); err != nil {
		t.Fatal(err)
	}
	if ws, err := unix.IoctlGetWinsize(slave, unix.TIOCGWINSZ); err != nil || ws.Col != 91 || ws.Row != 17 {
		t.Errorf("%+v, %v", ws, err)
	}
	if ws, err := unix.IoctlGetWinsize(slave, unix.TIOCGWINSZ); err != nil || ws.Xpixel != 91*8 || ws.Ypixel != 17*16 {
		t.Errorf("%+v, %v", ws, err)
	}
	if err := errors.Join(SetCellSize(master, Cell{9, 18}), SetSize(master, 100, 20)); err != nil {
		t.Error(err)
	}
	if ws, err := unix.IoctlGetWinsize(slave, unix.TIOCGWINSZ); err != nil || *ws != (unix.Winsize{Col: 100, Row: 20, Xpixel: 900, Ypixel: 360}) {
		t.Errorf("%+v, %v", ws, err)
	}
	if m, err := ReadModes(master); err != nil || m != (Modes{Echo: true, Canonical: true, Signals: true}) {
		t.Errorf("%+v, %v", m, err)
	}
	n, err := TerminalNumber(master)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := ModesOf(n); err == nil && !m.Canonical {
		t.Errorf("%+v", m)
	}
	var st unix.Stat_t
	if err := unix.Fstat(slave, &st); err != nil || uint64(st.Rdev) != TerminalDevice(n) {
		t.Errorf("device %x, not %x (%v)", st.Rdev, TerminalDevice(n), err)
	}
	if _, err := unix.Write(master, []byte("whole\nhalf")); err != nil {
		t.Fatal(err)
	}
	echoed := []unix.PollFd{{Fd: int32(master), Events: unix.POLLIN}} // the kernel processes input asynchronously
	if n, err := unix.Poll(echoed, 10_000); err != nil || n != 1 {
		t.Fatal("no echo: ", err)
	}
	if n, err := UnreadInput(master); err != nil || n != len("whole\n") {
		t.Errorf("%d bytes unread, %v", n, err)
	}
	if !HasPendingOutput(master) {
		t.Error("got no pending output")
	}
	if err := FlushUnread(master); err != nil {
		t.Error(err)
	}
	if n, err := UnreadInput(master); err != nil || n != 0 {
		t.Errorf("%d bytes unread after it, %v", n, err)
	}
	if was, err := ResetModes(master); was || err != nil {
		t.Errorf("got raw %v, %v, want line mode", was, err)
	}
	tio, err := unix.IoctlGetTermios(slave, unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	tio.Lflag &^= unix.ICANON | unix.ECHO
	tio.Oflag &^= unix.OPOST
	tio.Cc[unix.VMIN], tio.Cc[unix.VTIME] = 0, 3
	if err := unix.IoctlSetTermios(slave, unix.TCSETS, tio); err != nil {
		t.Fatal(err)
	}
	if m, err := ReadModes(master); err != nil || m.Echo || m.Canonical || m.ReadTimeout != 3e8 || !IsRawOutput(master) {
		t.Errorf("%+v, %v", m, err)
	}
	if was, err := ResetModes(master); !was || err != nil || IsRawOutput(master) {
		t.Errorf("got raw %v, %v, want a reset", was, err)
	}
	if m, _ := ReadModes(master); !m.Echo || !m.Canonical {
		t.Errorf("%+v", m)
	}
}

// TestUnread_SeesUndelivered checks that bytes written to one end of a PTY count at the other end at once, however late
// the kernel delivers them.
//
// FAULT: A10
func TestUnread_SeesUndelivered(t *testing.T) {
	master, slave := openPTY(t)
	tio, err := unix.IoctlGetTermios(slave, unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	tio.Lflag &^= unix.ICANON | unix.ECHO
	tio.Oflag &^= unix.OPOST
	if err := unix.IoctlSetTermios(slave, unix.TCSETS, tio); err != nil {
		t.Fatal(err)
	}
	typed, printed, buf := 0, 0, make([]byte, 8)
	for range 2000 {
		if _, err := unix.Write(master, []byte("x")); err != nil {
			t.Fatal(err)
		}
		if n, err := UnreadInput(master); err != nil || n != 1 {
			typed++
		}
		if _, err := unix.Read(slave, buf); err != nil {
			t.Fatal(err)
		}
		if _, err := unix.Write(slave, []byte("x")); err != nil {
			t.Fatal(err)
		}
		if !HasPendingOutput(master) {
			printed++
		}
		if _, err := unix.Read(master, buf); err != nil {
			t.Fatal(err)
		}
	}
	if typed > 0 || printed > 0 {
		t.Errorf("missed %d of 2000 keys and %d of 2000 printed characters", typed, printed)
	}
}

func TestTerminalCalls_FailWithoutTerminal(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	fd := int(null.Fd())
	for name, f := range map[string]func() error{
		"size":       func() error { return SetSize(fd, 1, 1) },
		"modes":      func() error { _, err := ReadModes(fd); return err },
		"foreground": func() error { _, err := ForegroundGroup(fd); return err },
		"number":     func() error { _, err := TerminalNumber(fd); return err },
		"unread":     func() error { _, err := UnreadInput(fd); return err },
		"flush":      func() error { return FlushUnread(fd) },
		"leader":     func() error { _, err := SessionLeader(fd); return err },
	} {
		if err := f(); err == nil {
			t.Errorf("%s: got no error without a terminal", name)
		}
	}
	if HasPendingOutput(fd) || IsRawOutput(fd) {
		t.Error("got output state without a terminal")
	}
}

func TestPeerOf(t *testing.T) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unix"})
	if err != nil {
		t.Skip("no Unix socket here: ", err)
	}
	defer l.Close()
	c, err := net.DialUnix("unix", nil, l.Addr().(*net.UnixAddr))
	if err != nil {
		t.Fatal(err)
	}
	if uid, pid, err := PeerOf(c); err != nil || uid != os.Getuid() || pid != os.Getpid() {
		t.Errorf("%d, %d, %v", uid, pid, err)
	}
	_ = c.Close()
	if uid, _, err := PeerOf(c); !errors.Is(err, net.ErrClosed) || uid != -1 {
		t.Errorf("closed: %d, %v", uid, err)
	}
}

func TestDescriptors(t *testing.T) {
	now, most, err := DescriptorLimit()
	if err != nil || now == 0 || now > most {
		t.Fatalf("%d, %d, %v", now, most, err)
	}
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if left, err := FreeDescriptors(f); err != nil || left <= 0 || uint64(left) > now {
		t.Errorf("%d of %d left, %v", left, now, err)
	}
	if err := RaiseLimit(unix.RLIMIT_NOFILE); err != nil {
		t.Error(err)
	}
	if now, _, _ := DescriptorLimit(); now != most {
		t.Errorf("raised to %d, not %d", now, most)
	}
	name, ok := OwnFilePath(f.Fd())
	if to, err := os.Readlink(name); !ok || err != nil || to != os.DevNull {
		t.Errorf("%q leads to %q, %v", name, to, err)
	}
	shared, ok := SharedFilePath(f.Fd())
	if to, err := os.Readlink(shared); !ok || err != nil || to != os.DevNull {
		t.Errorf("%q leads to %q, %v", shared, to, err)
	}
}
