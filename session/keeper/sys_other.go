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

// becomeSubreaper returns an error: this system has no subreapers.
func becomeSubreaper() error { return errors.ErrUnsupported }

// raiseOOMScore does nothing on this system.
func raiseOOMScore(int) {}

// signalSession reaches the process group only: this system has no /proc.
func signalSession(pid int, sig syscall.Signal, reaped bool) error {
	if reaped {
		return nil
	}
	return ignoreNoProcess(syscall.Kill(-pid, sig))
}

// moveToOwnScope moves this process out of the unit or login session that it was started in, into a new scope of the
// user's systemd. The end of the login or unit then does not end the sessions. Call it before any child exists.
func moveToOwnScope() error { return errors.ErrUnsupported }

// handoffFile returns an error: without /proc a program cannot be executed by descriptor, so an upgrade in place is
// not possible.
func handoffFile() (*os.File, error) {
	return nil, fmt.Errorf("a keeper cannot be upgraded in place on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}
