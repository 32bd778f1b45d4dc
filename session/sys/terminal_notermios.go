//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package sys

import (
	"fmt"
	"runtime"
)

// ReadModes fails: unsupported here.
func ReadModes(int) (Modes, error) {
	return Modes{}, fmt.Errorf("read the terminal's settings: not possible on %s", runtime.GOOS)
}

// DropsLine fails as ReadModes does.
func DropsLine(int, byte) (bool, error) {
	return false, fmt.Errorf("read the terminal's settings: not possible on %s", runtime.GOOS)
}

// Size fails as ReadModes does.
func Size(int) (cols, rows int, err error) {
	return 0, 0, fmt.Errorf("read a terminal's size: not possible on %s", runtime.GOOS)
}
