//go:build !linux

package evidence

import "errors"

var errNoPeer = errors.New("the terminal's other end cannot be reached on this system")

// UnreadInput is not known here.
func UnreadInput(int) int { return 0 }

// FlushUnread is not possible here.
func FlushUnread(int) error { return errNoPeer }

// Sane is not possible here.
func Sane(int) (bool, error) { return false, errNoPeer }

// RawOutput is not known here.
func RawOutput(int) bool { return false }

// ReadSize is not known here.
func ReadSize(int, int) int { return 0 }
