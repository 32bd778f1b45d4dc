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

// signalSession reaches the process group only: this system has no /proc.
func signalSession(pid int, sig syscall.Signal, reaped bool) error {
	if reaped {
		return nil
	}
	return ignoreGone(syscall.Kill(-pid, sig))
}

// ownScope moves this process out of the unit or login session that it was started in, into a new scope of the user's
// systemd. The end of the login or unit then does not end the sessions. Call it before any child exists.
func ownScope() error { return errors.ErrUnsupported }

// handoffFile: without /proc a program cannot be executed by descriptor, so there is
// no upgrade in place.
func handoffFile() (*os.File, error) {
	return nil, fmt.Errorf("a keeper cannot be upgraded in place on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}
