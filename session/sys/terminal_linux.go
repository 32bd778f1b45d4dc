package sys

import (
	"fmt"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

const getTermios = unix.TCGETS

// readTermios returns a terminal's settings. It runs for each key, so it bypasses the scheduler (see package rawio).
func readTermios(fd int) (*unix.Termios, error) {
	t := &unix.Termios{}
	if _, _, errno := unix.RawSyscall(unix.SYS_IOCTL, uintptr(fd), getTermios, uintptr(unsafe.Pointer(t))); errno != 0 {
		return nil, errno
	}
	return t, nil
}

// HasPendingOutput reports whether printed output has not been read from a PTY's master yet.
func HasPendingOutput(master int) bool {
	awaitDelivery(master)
	n, err := unix.IoctlGetInt(master, unix.TIOCINQ)
	return err == nil && n > 0
}

// TerminalNumber returns the number N of a master's terminal /dev/pts/N.
func TerminalNumber(master int) (int, error) {
	n, err := unix.IoctlGetInt(master, unix.TIOCGPTN)
	if err != nil {
		return 0, fmt.Errorf("find the terminal of a PTY: %w", err)
	}
	return n, nil
}

// TerminalDevice returns the device number of /dev/pts/n. Majors from 136 on have 256 minors each; devpts uses the
// first one with all minors.
func TerminalDevice(n int) uint64 { return unix.Mkdev(136, uint32(n)) }

// ModesOf reads the settings of a terminal by its number. Another process must have it open, so that this open is
// neither the first nor the last.
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

// SessionLeader returns the leader of the terminal session of a terminal; it may have exited.
func SessionLeader(fd int) (int, error) {
	n, err := unix.IoctlGetInt(fd, unix.TIOCGSID)
	return n, os.NewSyscallError("TIOCGSID", err)
}

// withPeer calls f with the other end of the PTY whose master is fd, wherever it is mounted (tty_ioctl(4)). That end does
// not become a controlling terminal.
func withPeer(fd int, f func(tty int) error) error {
	tty, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCGPTPEER,
		unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC)
	if errno != 0 {
		return os.NewSyscallError("TIOCGPTPEER", errno)
	}
	defer unix.Close(int(tty))
	return f(int(tty))
}

// UnreadInput returns the number of input bytes that a reader of the terminal could read; in line mode only complete lines
// count. Bytes written to the master have reached the terminal by then, and signal keys have sent their signals: on a busy
// machine the kernel forwards input milliseconds late.
func UnreadInput(fd int) (n int, err error) {
	err = withPeer(fd, func(tty int) (err error) {
		awaitDelivery(tty)
		n, err = unix.IoctlGetInt(tty, unix.TIOCINQ)
		return os.NewSyscallError("TIOCINQ", err)
	})
	return n, err
}

// awaitDelivery waits until an end of a PTY has the bytes written to the other end: before a poll reports nothing to read, the
// kernel delivers them (n_tty_poll).
func awaitDelivery(end int) {
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(end), Events: unix.POLLIN}}, 0) // delivered also if interrupted
}

// FlushUnread discards the input that no program has read yet, unfinished lines too, of the terminal whose master is fd.
func FlushUnread(fd int) error {
	return withPeer(fd, func(tty int) error {
		return os.NewSyscallError("TCFLSH", unix.IoctlSetInt(tty, unix.TCFLSH, unix.TCIFLUSH))
	})
}

// ResetModes resets a terminal to line mode, like "stty sane", and reports whether it was in another mode.
func ResetModes(fd int) (wasRaw bool, err error) {
	t, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil || t.Lflag&unix.ICANON != 0 && t.Iflag&unix.ICRNL != 0 {
		return false, err
	}
	t.Iflag = t.Iflag&^(unix.IGNCR|unix.INLCR) | unix.ICRNL | unix.IXON | unix.BRKINT
	t.Oflag |= unix.OPOST | unix.ONLCR
	t.Lflag |= unix.ICANON | unix.ISIG | unix.IEXTEN | unix.ECHO | unix.ECHOE | unix.ECHOK | unix.ECHOCTL | unix.ECHOKE
	t.Cc[unix.VEOF], t.Cc[unix.VEOL] = 'D'-'@', 0 // VMIN and VTIME on some systems, in raw mode
	return true, os.NewSyscallError("TCSETS", unix.IoctlSetTermios(fd, unix.TCSETS, t))
}

// IsRawOutput reports whether a terminal prints line ends unchanged: no line editor leaves it so.
func IsRawOutput(fd int) bool {
	t, err := unix.IoctlGetTermios(fd, getTermios)
	return err == nil && t.Oflag&unix.OPOST == 0
}
