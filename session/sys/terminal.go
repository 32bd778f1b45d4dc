package sys

import (
	"time"
)

// Modes are the terminal settings that show what kind of input is expected.
type Modes struct {
	Echo      bool // the terminal echoes input (ECHO)
	Canonical bool // input arrives in lines (ICANON)
	Signals   bool // ^C and ^Z send signals (ISIG)
	// ReadTimeout is the longest wait of a read for input (VMIN 0, VTIME); 0: no limit.
	ReadTimeout time.Duration
}

// Cell is the size of a cell in pixels.
type Cell struct{ Width, Height int }

// DefaultCell is the size of a cell unless a client has set another.
var DefaultCell = Cell{8, 16}

// controller gives access to a descriptor while it is not closed: *os.File and connections of package net.
type controller interface {
	Control(f func(fd uintptr)) error
}

// Control calls f with a descriptor and leaves it non-blocking: os.File.Fd would not.
func Control(raw controller, f func(fd int) error) error {
	var ferr error
	if err := raw.Control(func(fd uintptr) { ferr = f(int(fd)) }); err != nil {
		return err
	}
	return ferr
}
