//go:build unix && !linux

package keeper

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
)

const maxRSSUnit = 1 // ru_maxrss is in bytes here

func becomeSubreaper() error { return errors.ErrUnsupported }

func exposeToOOM(int) {}

// signalSession reaches the process group only: there is no /proc to walk.
func signalSession(pid int, sig syscall.Signal, reaped bool) error {
	if reaped {
		return nil
	}
	return ignoreGone(syscall.Kill(-pid, sig))
}

func ownScope() error { return errors.ErrUnsupported }

// handoffFile: without /proc a program cannot be executed by descriptor, so there is
// no upgrade in place.
func handoffFile() (*os.File, error) {
	return nil, fmt.Errorf("a keeper cannot be upgraded in place on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}
