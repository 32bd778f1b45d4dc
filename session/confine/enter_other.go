//go:build !linux

package confine

import (
	"fmt"
	"os"
)

// Enter exits in a process that was started to confine itself: that is supported on Linux only.
func Enter() {
	if _, _, ok, _ := ownSpec(os.Args, os.Environ()); ok {
		fmt.Fprintln(os.Stderr, "longterm: processes are confined on Linux only")
		os.Exit(126)
	}
}

// Probe returns why execution checks are unavailable here.
func Probe() error { return fmt.Errorf("requires Linux") }
