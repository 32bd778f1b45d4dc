//go:build unix && !linux

package keeper

// resting is the streams that have no goroutine of their own: here each has one.
type resting struct{}

func (*resting) rest(*stream, func()) bool { return false }

func (*resting) wake(*stream, bool) {}
