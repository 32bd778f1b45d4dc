// Package spinwait waits at a descriptor with the calling thread, for the time in which more is likely to come.
package spinwait

import (
	"errors"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Time is how long For waits: longer than a build takes from one execution to the next.
const Time = 20 * time.Millisecond

// MaxDescriptors is at how many Until waits.
const MaxDescriptors = 8

// lingerSlice is how long a thread of ours sleeps at most without asking the runtime what else there is to do. The
// collector interrupts it by a signal.
const lingerSlice = 5 * time.Millisecond

// lingering is set while a goroutine lingers: each one blocks a processor of the runtime.
var lingering atomic.Bool

// For waits a moment, on the calling thread, for a descriptor that is likely to become readable soon, and reports
// whether it has. The kernel can switch directly to a thread that waits at the descriptor; the runtime's poller would
// wake other threads first, at the expense of the waiting process. It does not wait where that would cost others more.
func For(fd int) bool { return Until(time.Now().Add(Time), fd) != 0 }

// Can reports whether Until would wait now.
func Can() bool { return runtime.GOMAXPROCS(0) >= 2 && !lingering.Load() }

// Until is For for several descriptors. The result has a bit for each readable one; 0: none until end.
func Until(end time.Time, fds ...int) (ready uint) {
	if runtime.GOMAXPROCS(0) < 2 || !lingering.CompareAndSwap(false, true) {
		return 0
	}
	defer lingering.Store(false)
	var polls [MaxDescriptors]unix.PollFd
	n := copyTo(polls[:], fds)
	for {
		slice := unix.NsecToTimespec(int64(max(0, min(time.Until(end), lingerSlice))))
		_, _, errno := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&polls)), uintptr(n), uintptr(unsafe.Pointer(&slice)), 0, 0, 0)
		if errno != 0 && !errors.Is(errno, unix.EINTR) {
			return 0
		}
		for i := range polls[:n] {
			if errno == 0 && polls[i].Revents != 0 {
				ready |= 1 << i
			}
		}
		if ready != 0 || !time.Now().Before(end) {
			return ready
		}
		runtime.Gosched()
	}
}

func copyTo(polls []unix.PollFd, fds []int) (n int) {
	for i := range min(len(fds), len(polls)) {
		polls[i] = unix.PollFd{Fd: int32(fds[i]), Events: unix.POLLIN}
		n++
	}
	return n
}
