//go:build unix && !linux

package takeover

import (
	"errors"
	"syscall"
)

// Terminal is never created on this system: only Linux takes over the terminal before initialisation.
type Terminal struct {
	Guard      *Guard
	Cols, Rows int
	Drawn      int
}

// RestoreModes restores the settings that the terminal had before raw mode.
func (*Terminal) RestoreModes() error { return errors.ErrUnsupported }

func pipe() (r, w int, err error) {
	var p [2]int
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err = syscall.Pipe(p[:]); err == nil {
		syscall.CloseOnExec(p[0])
		syscall.CloseOnExec(p[1])
	}
	return p[0], p[1], err
}
