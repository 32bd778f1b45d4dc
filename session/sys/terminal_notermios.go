//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package sys

import (
	"fmt"
	"runtime"
)

// ReadModes fails here: the terminal does not say.
func ReadModes(int) (Modes, error) {
	return Modes{}, fmt.Errorf("read the terminal's settings: not possible on %s", runtime.GOOS)
}

// DropsLine fails as ReadModes does.
func DropsLine(int, byte) (bool, error) {
	return false, fmt.Errorf("read the terminal's settings: not possible on %s", runtime.GOOS)
}

// Size fails as ReadModes does.
func Size(int) (cols, rows int, err error) {
	return 0, 0, fmt.Errorf("ask a terminal for its size: not possible on %s", runtime.GOOS)
}
