//go:build !linux

package inputdetect

// BlockedRead always returns zeros.
func BlockedRead(int, int) (size int, stack uint64) { return 0, 0 }
