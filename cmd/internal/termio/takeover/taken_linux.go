package takeover

import (
	"os"
	"syscall"
	"unsafe"
)

// Taken is the person's terminal, standard input and output, once it is raw, guarded and has the alternate screen: what
// gives it back, and what is known of it.
type Taken struct {
	Was        syscall.Termios // before it was raw
	Guard      *Guard
	Cols, Rows int // that the session was told; cells
	Drawn      int // so many bytes of the session's drawing are on it
}

// AreTerminals says that standard input and output are terminals, and how large the one is that is drawn on; 0: unknown.
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

// Take makes the terminal raw, and has it guarded and show what the session is drawn on.
func Take(cols, rows int, banner string) (*Taken, error) {
	t := &Taken{Cols: cols, Rows: rows}
	if err := ioctl(0, syscall.TCGETS, unsafe.Pointer(&t.Was)); err != nil {
		return nil, err
	}
	raw := t.Was // as golang.org/x/term has it
	raw.Iflag &^= syscall.IGNBRK | syscall.BRKINT | syscall.PARMRK | syscall.ISTRIP | syscall.INLCR | syscall.IGNCR | syscall.ICRNL | syscall.IXON
	raw.Oflag &^= syscall.OPOST
	raw.Lflag &^= syscall.ECHO | syscall.ECHONL | syscall.ICANON | syscall.ISIG | syscall.IEXTEN
	raw.Cflag &^= syscall.CSIZE | syscall.PARENB
	raw.Cflag |= syscall.CS8
	raw.Cc[syscall.VMIN], raw.Cc[syscall.VTIME] = 1, 0
	if err := ioctl(0, syscall.TCSETS, unsafe.Pointer(&raw)); err != nil {
		return nil, err
	}
	t.Guard = StartGuard(os.Stdout, OwnScreenReset, SettingsReset)
	_, _ = os.Stderr.WriteString(banner)
	_, _ = os.Stdout.WriteString(Enter(true)) // a terminal that is gone is noticed when drawing
	return t, nil
}

// GiveModesBack has the terminal cooked as it was.
func (t *Taken) GiveModesBack() error {
	return ioctl(0, syscall.TCSETS, unsafe.Pointer(&t.Was))
}

// pipe is os.Pipe without the runtime's poller, which nobody else needs yet.
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
