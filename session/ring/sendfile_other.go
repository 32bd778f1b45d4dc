//go:build !linux

package ring

// canTypeFromFiles reports that input cannot be typed from a file.
const canTypeFromFiles = false

// SendPiece writes to a descriptor from the position of a file, which moves. It is on Linux.
func SendPiece(_, _, _ int) (int, error) { return 0, ErrNoSendFile }
