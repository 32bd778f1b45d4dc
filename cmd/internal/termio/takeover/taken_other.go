//go:build unix && !linux

package takeover

import (
	"errors"
	"syscall"
)

// Taken is a terminal that was taken before the program was initialised: none is here.
type Taken struct {
	Guard      *Guard
	Cols, Rows int
	Drawn      int
}

// GiveModesBack has the terminal cooked as it was.
func (*Taken) GiveModesBack() error { return errors.ErrUnsupported }

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
