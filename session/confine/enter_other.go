//go:build !linux

package confine

import (
	"fmt"
	"os"
)

// Enter ends a process that was started to put something on itself: that is on Linux only.
func Enter() {
	if _, _, ok, _ := entered(os.Args, os.Environ()); ok {
		fmt.Fprintln(os.Stderr, "longterm: processes are confined on Linux only")
		os.Exit(126)
	}
}

// Probe says why executions cannot be asked about here.
func Probe() error { return fmt.Errorf("it needs Linux") }
