package keeper

import (
	"slices"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/ring"
)

// pipeOrder finds which of two pipes was written to first. The kernel keeps an epoll instance's ready list in the order
// of readiness; edge-triggered, a pipe enters it with the first write since the last query. pipeOrder only queries it
// and never waits.
type pipeOrder struct{ epoll int } // epoll instance, or -1

// newPipeOrder returns the order of two streams.
func newPipeOrder(outs []*stream) pipeOrder {
	if len(outs) < 2 || slices.ContainsFunc(outs, func(o *stream) bool { return o.closed }) {
		return pipeOrder{-1}
	}
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return pipeOrder{-1} // the order is unknown
	}
	for _, o := range outs {
		if raw, err := o.file.SyscallConn(); err == nil {
			_ = raw.Control(func(out uintptr) {
				_ = unix.EpollCtl(fd, unix.EPOLL_CTL_ADD, int(out), &unix.EpollEvent{
					Events: unix.EPOLLIN | unix.EPOLLET&0xffffffff, Fd: int32(o.id),
				})
			})
		}
	}
	return pipeOrder{fd}
}

// firstReady returns the stream that was written to first. ok is false if unknown.
func (o pipeOrder) firstReady() (s ring.Stream, ok bool) {
	if o.epoll < 0 {
		return 0, false
	}
	var events [2]unix.EpollEvent
	n, err := unix.EpollWait(o.epoll, events[:], 0)
	if err != nil || n < 1 {
		return 0, false
	}
	return ring.Stream(events[0].Fd), true
}

// close closes the epoll instance.
func (o pipeOrder) close() {
	if o.epoll >= 0 {
		_ = unix.Close(o.epoll)
	}
}
