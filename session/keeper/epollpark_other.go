//go:build unix && !linux

package keeper

// epollParker parks nothing: on this system each stream keeps its goroutine.
type epollParker struct{}

// park calls on, once, as soon as a stream is readable or closed. The caller must no longer use the stream. It returns
// false if the caller must wait itself.
func (*epollParker) park(*stream, func()) bool { return false }

// unpark does nothing.
func (*epollParker) unpark(*stream, bool) {}
