package takeover

import (
	"os"
	"syscall"
	"unsafe"
)

// Terminal is the user's terminal (standard input and output) in raw mode, with the alternate screen and a guard.
type Terminal struct {
	Saved      syscall.Termios // terminal settings to restore
	Guard      *Guard
	Cols, Rows int // size in cells that the session received
	Drawn      int // bytes of the session's first drawing that are already on the terminal
}

// AreTerminals reports whether standard input and output are terminals, and returns the size of the output; 0: unknown.
func AreTerminals() (cols, rows int, ok bool) {
	var t syscall.Termios
	if ioctl(0, syscall.TCGETS, unsafe.Pointer(&t)) != nil || ioctl(1, syscall.TCGETS, unsafe.Pointer(&t)) != nil {
		return 0, 0, false
	}
	var size struct{ rows, cols, _, _ uint16 }
	if ioctl(1, syscall.TIOCGWINSZ, unsafe.Pointer(&size)) != nil {
		return 0, 0, true
	}
	return int(size.cols), int(size.rows), true
}

// TakeOver sets raw mode, starts the guard, prints banner and enters the alternate screen.
func TakeOver(cols, rows int, banner string) (*Terminal, error) {
	t := &Terminal{Cols: cols, Rows: rows}
	if err := ioctl(0, syscall.TCGETS, unsafe.Pointer(&t.Saved)); err != nil {
		return nil, err
	}
	raw := t.Saved // as golang.org/x/term has it
	raw.Iflag &^= syscall.IGNBRK | syscall.BRKINT | syscall.PARMRK | syscall.ISTRIP | syscall.INLCR | syscall.IGNCR | syscall.ICRNL | syscall.IXON
	raw.Oflag &^= syscall.OPOST
	raw.Lflag &^= syscall.ECHO | syscall.ECHONL | syscall.ICANON | syscall.ISIG | syscall.IEXTEN
	raw.Cflag &^= syscall.CSIZE | syscall.PARENB
	raw.Cflag |= syscall.CS8
	raw.Cc[syscall.VMIN], raw.Cc[syscall.VTIME] = 1, 0
	if err := ioctl(0, syscall.TCSETS, unsafe.Pointer(&raw)); err != nil {
		return nil, err
	}
	t.Guard = StartGuard(os.Stdout, AlternateReset, SettingsReset)
	_, _ = os.Stderr.WriteString(banner)
	_, _ = os.Stdout.WriteString(Enter(true)) // a closed terminal is detected when drawing
	return t, nil
}

// RestoreModes restores the settings that the terminal had before raw mode.
func (t *Terminal) RestoreModes() error {
	return ioctl(0, syscall.TCSETS, unsafe.Pointer(&t.Saved))
}

// pipe creates a pipe like os.Pipe, without the runtime's poller, which is not initialised yet.
func pipe() (r, w int, err error) {
	var p [2]int
	err = syscall.Pipe2(p[:], syscall.O_CLOEXEC)
	return p[0], p[1], err
}

func ioctl(fd, request uintptr, arg unsafe.Pointer) error {
	for {
		switch _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(arg)); errno {
		case 0:
			return nil
		case syscall.EINTR:
		default:
			return errno
		}
	}
}
