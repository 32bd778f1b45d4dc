package sys

import (
	"time"
)

// Modes are the terminal settings that show what kind of input is expected.
type Modes struct {
	Echo      bool // what is typed is shown (ECHO)
	Canonical bool // input arrives in lines (ICANON)
	Signals   bool // ^C and ^Z send signals (ISIG)
	// Limit is for how long a read of keys waits at most (VMIN 0, VTIME); 0: until there is one.
	Limit time.Duration
}

// Cell is the size of a cell in pixels.
type Cell struct{ Width, Height int }

// DefaultCell is the size of a cell unless a client has set another.
var DefaultCell = Cell{8, 16}

// control is what has a descriptor that may be used while it is not closed: *os.File and net's.
type control interface {
	Control(f func(fd uintptr)) error
}

// Control calls f with a descriptor and leaves it non-blocking: os.File.Fd would not.
func Control(raw control, f func(fd int) error) error {
	var ferr error
	if err := raw.Control(func(fd uintptr) { ferr = f(int(fd)) }); err != nil {
		return err
	}
	return ferr
}
