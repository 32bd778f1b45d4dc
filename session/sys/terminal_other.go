//go:build !linux

package sys

// OutputPending is not known here.
func OutputPending(int) bool { return false }

// UnreadInput is not known here.
func UnreadInput(int) (int, error) { return 0, errNoPeer }

// FlushUnread is not possible here.
func FlushUnread(int) error { return errNoPeer }

// Sane is not possible here.
func Sane(int) (bool, error) { return false, errNoPeer }

// RawOutput is not known here.
func RawOutput(int) bool { return false }
