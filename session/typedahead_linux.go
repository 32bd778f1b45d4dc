package session

import "golang.org/x/sys/unix"

// unreadInput is how many bytes of input wait in a terminal's own queue, by its master's
// descriptor. Of a line that is being edited only whole lines count.
func unreadInput(master int) (int, error) {
	// tty_ioctl(4): TIOCGPTPEER opens the other side, wherever it is mounted.
	tty, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(master), unix.TIOCGPTPEER,
		unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC)
	if errno != 0 {
		return 0, errno
	}
	defer unix.Close(int(tty))
	return unix.IoctlGetInt(int(tty), unix.TIOCINQ)
}
