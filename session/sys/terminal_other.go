//go:build !linux

package sys

import "errors"

// OutputPending is not known here.
func OutputPending(int) bool { return false }

// errNoPeer is why what is done at a terminal's other end cannot be done here.
var errNoPeer = errors.Join(errors.New("the terminal's other end cannot be reached on this system"), errors.ErrUnsupported)

// UnreadInput is not known here.
func UnreadInput(int) (int, error) { return 0, errNoPeer }

// FlushUnread is not possible here.
func FlushUnread(int) error { return errNoPeer }

// Sane is not possible here.
func Sane(int) (bool, error) { return false, errNoPeer }

// RawOutput is not known here.
func RawOutput(int) bool { return false }
