package keeper

import (
	"slices"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/ring"
)

// order finds which of two pipes was written to first. The kernel keeps an epoll instance's ready list in the order of
// readiness; edge-triggered, a pipe enters it with the first write since the last query. order only queries it and
// never waits.
type order struct{ epoll int } // epoll instance, or -1

// newOrder returns the order of two streams.
func newOrder(outs []*stream) order {
	if len(outs) < 2 || slices.ContainsFunc(outs, func(o *stream) bool { return o.closed }) {
		return order{-1}
	}
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return order{-1} // as if nothing were known
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
	return order{fd}
}

// first reports whether s was written to, and before the others.
func (o order) first() (s ring.Stream, ok bool) {
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

func (o order) close() {
	if o.epoll >= 0 {
		_ = unix.Close(o.epoll)
	}
}
