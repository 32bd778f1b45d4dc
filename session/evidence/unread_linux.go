package evidence

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// slave calls f with the other end of the PTY whose master is fd. It never becomes anybody's
// controlling terminal.
func slave(fd int, f func(tty int) error) error {
	tty, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC)
	if errno != 0 {
		return os.NewSyscallError("TIOCGPTPEER", errno)
	}
	defer unix.Close(int(tty))
	return f(int(tty))
}

// UnreadInput is how many bytes of input stand ready for a reader of the terminal whose master is
// fd: in line mode those of whole lines only. 0 when it is not known.
func UnreadInput(fd int) (n int) {
	_ = slave(fd, func(tty int) (err error) {
		n, err = unix.IoctlGetInt(tty, unix.TIOCINQ)
		return err
	})
	return n
}

// FlushUnread throws away the input that nobody has read yet, unfinished lines too, of the
// terminal whose master is fd.
func FlushUnread(fd int) error {
	return slave(fd, func(tty int) error {
		return os.NewSyscallError("TCFLSH", unix.IoctlSetInt(tty, unix.TCFLSH, unix.TCIFLUSH))
	})
}

// Sane puts a terminal back into line mode when a program has left it in another one, as
// "stty sane" does. It reports whether that was so.
func Sane(fd int) (was bool, err error) {
	t, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil || t.Lflag&unix.ICANON != 0 && t.Iflag&unix.ICRNL != 0 {
		return false, err
	}
	t.Iflag = t.Iflag&^(unix.IGNCR|unix.INLCR) | unix.ICRNL | unix.IXON | unix.BRKINT
	t.Oflag |= unix.OPOST | unix.ONLCR
	t.Lflag |= unix.ICANON | unix.ISIG | unix.IEXTEN | unix.ECHO | unix.ECHOE | unix.ECHOK | unix.ECHOCTL | unix.ECHOKE
	t.Cc[unix.VEOF], t.Cc[unix.VEOL] = 'D'-'@', 0 // VMIN and VTIME in the other mode, on some systems
	return true, os.NewSyscallError("TCSETS", unix.IoctlSetTermios(fd, unix.TCSETS, t))
}

// RawOutput reports if a terminal prints ends of lines as they are: no line editor leaves it so.
func RawOutput(fd int) bool {
	t, err := unix.IoctlGetTermios(fd, getTermios)
	return err == nil && t.Oflag&unix.OPOST == 0
}

// ReadSize is how many bytes a thread that is blocked in read asks for; 0 when that is not
// known.
func ReadSize(pid, tid int) int {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/task/" + strconv.Itoa(tid) + "/syscall")
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b))
	if len(f) < 4 || f[0] != strconv.Itoa(unix.SYS_READ) {
		return 0
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(f[3], "0x"), 16, 31)
	if err != nil {
		return 0
	}
	return int(n)
}
