package sys

import (
	"fmt"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

const getTermios = unix.TCGETS

// settings are a terminal's. They are asked for with each key: the runtime is not told of a call that takes no time (package
// nowait says what that would cost).
func settings(fd int) (*unix.Termios, error) {
	t := &unix.Termios{}
	if _, _, errno := unix.RawSyscall(unix.SYS_IOCTL, uintptr(fd), getTermios, uintptr(unsafe.Pointer(t))); errno != 0 {
		return nil, errno
	}
	return t, nil
}

// OutputPending reports if something that was printed has not been read from a PTY's master yet.
func OutputPending(master int) bool {
	handOn(master)
	n, err := unix.IoctlGetInt(master, unix.TIOCINQ)
	return err == nil && n > 0
}

// TerminalNumber is which of the system's pseudo-terminals a master belongs to: /dev/pts/N.
func TerminalNumber(master int) (int, error) {
	n, err := unix.IoctlGetInt(master, unix.TIOCGPTN)
	if err != nil {
		return 0, fmt.Errorf("find the terminal of a PTY: %w", err)
	}
	return n, nil
}

// TerminalDevice is the device number of /dev/pts/n: the majors from 136 on have 256 each, of which
// devpts uses the first with all the minors there are.
func TerminalDevice(n int) uint64 { return unix.Mkdev(136, uint32(n)) }

// ModesOf reads the settings of a terminal by its number. Another process has it open: it is not we who open
// it first, or last as long as they live.
func ModesOf(n int) (Modes, error) {
	name := "/dev/pts/" + strconv.Itoa(n)
	fd, err := retry(func() (int, error) {
		return unix.Open(name, unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return Modes{}, &os.PathError{Op: "open", Path: name, Err: err}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || uint64(st.Rdev) != TerminalDevice(n) {
		return Modes{}, &os.PathError{Op: "open", Path: name, Err: unix.ENOTTY}
	}
	return ReadModes(fd)
}

// SessionLeader leads the terminal session whose terminal it is; it may be gone.
func SessionLeader(fd int) (int, error) {
	n, err := unix.IoctlGetInt(fd, unix.TIOCGSID)
	return n, os.NewSyscallError("TIOCGSID", err)
}

// peer calls f with the other end of the PTY whose master is fd, wherever that is mounted
// (tty_ioctl(4)). It never becomes anybody's controlling terminal.
func peer(fd int, f func(tty int) error) error {
	tty, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCGPTPEER,
		unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC)
	if errno != 0 {
		return os.NewSyscallError("TIOCGPTPEER", errno)
	}
	defer unix.Close(int(tty))
	return f(int(tty))
}

// UnreadInput is how many bytes of input stand ready for a reader of the terminal whose master is
// fd: in line mode those of whole lines only. What was written to the master has reached the terminal by then, and keys
// that send signals have sent them: on a busy machine the kernel hands input on milliseconds after it was written.
func UnreadInput(fd int) (n int, err error) {
	err = peer(fd, func(tty int) (err error) {
		handOn(tty)
		n, err = unix.IoctlGetInt(tty, unix.TIOCINQ)
		return os.NewSyscallError("TIOCINQ", err)
	})
	return n, err
}

// handOn waits until an end of a PTY has what was written to the other one: a poll that finds nothing to be read has the kernel
// finish that first (n_tty_poll).
func handOn(end int) {
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(end), Events: unix.POLLIN}}, 0) // interrupted it has done so, too
}

// FlushUnread throws away the input that no program has read yet, unfinished lines too, of the
// terminal whose master is fd.
func FlushUnread(fd int) error {
	return peer(fd, func(tty int) error {
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
