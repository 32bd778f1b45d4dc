//go:build !linux

package sys

import "errors"

// HasPendingOutput returns false: unknown here.
func HasPendingOutput(int) bool { return false }

// errNoPeer is the error of operations on a terminal's other end.
var errNoPeer = errors.Join(errors.New("the terminal's other end cannot be reached on this system"), errors.ErrUnsupported)

// UnreadInput fails: unsupported here.
func UnreadInput(int) (int, error) { return 0, errNoPeer }

// FlushUnread fails: unsupported here.
func FlushUnread(int) error { return errNoPeer }

// ResetModes fails: unsupported here.
func ResetModes(int) (bool, error) { return false, errNoPeer }

// IsRawOutput returns false: unknown here.
func IsRawOutput(int) bool { return false }
