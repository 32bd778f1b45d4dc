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

// DiscardsInput fails: unsupported here.
func DiscardsInput(int, byte) (bool, error) {
	return false, fmt.Errorf("read the terminal's settings: not possible on %s", runtime.GOOS)
}

// Size fails: unsupported here.
func Size(int) (cols, rows int, err error) {
	return 0, 0, fmt.Errorf("read a terminal's size: not possible on %s", runtime.GOOS)
}
