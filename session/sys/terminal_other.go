//go:build !linux

package sys

import "errors"

// OutputPending returns false: unknown here.
func OutputPending(int) bool { return false }

// errNoPeer is why what is done at a terminal's other end cannot be done here.
var errNoPeer = errors.Join(errors.New("the terminal's other end cannot be reached on this system"), errors.ErrUnsupported)

// UnreadInput fails: unknown here.
func UnreadInput(int) (int, error) { return 0, errNoPeer }

// FlushUnread fails: unsupported here.
func FlushUnread(int) error { return errNoPeer }

// Sane fails: unsupported here.
func Sane(int) (bool, error) { return false, errNoPeer }

// RawOutput returns false: unknown here.
func RawOutput(int) bool { return false }
