//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sys

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// ReadModes reads a terminal's settings, by either end of a PTY: both share them.
func ReadModes(fd int) (Modes, error) {
	t, err := readTermios(fd)
	if err != nil {
		return Modes{}, fmt.Errorf("read the terminal's settings: %w", err)
	}
	m := Modes{
		Echo:      t.Lflag&unix.ECHO != 0,
		Canonical: t.Lflag&unix.ICANON != 0,
		Signals:   t.Lflag&unix.ISIG != 0,
	}
	if !m.Canonical && t.Cc[unix.VMIN] == 0 {
		m.ReadTimeout = time.Duration(t.Cc[unix.VTIME]) * 100 * time.Millisecond
	}
	return m, nil
}

// DiscardsInput reports whether the terminal treats a character as Ctrl-C or Ctrl-\, which sends a signal and discards unread
// input.
func DiscardsInput(fd int, c byte) (bool, error) {
	t, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return false, fmt.Errorf("read the terminal's settings: %w", err)
	}
	return c != 0 && t.Lflag&unix.ISIG != 0 && t.Lflag&unix.NOFLSH == 0 && (c == t.Cc[unix.VINTR] || c == t.Cc[unix.VQUIT]), nil
}

// Size returns the size of a terminal in cells.
func Size(fd int) (cols, rows int, err error) {
	ws, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0, fmt.Errorf("read a terminal's size: %w", err)
	}
	return int(ws.Col), int(ws.Row), nil
}
