// Package spinwait waits for descriptors on the calling thread, for a short time in which they are likely to become readable.
package spinwait

import (
	"errors"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Period is how long WaitReadable waits: longer than a build takes from one execution to the next.
const Period = 20 * time.Millisecond

// MaxDescriptors bounds the descriptors of WaitUntil.
const MaxDescriptors = 8

// sleepSlice bounds one sleep of the thread before it lets the runtime schedule other goroutines. The garbage collector
// interrupts a sleep by a signal.
const sleepSlice = 5 * time.Millisecond

// isWaiting is set while a goroutine waits: each waiting one blocks a processor of the runtime.
var isWaiting atomic.Bool

// WaitReadable waits up to Period, on the calling thread, for a descriptor and reports whether it is readable. The kernel can
// switch directly to a thread that waits at the descriptor; the runtime's poller would wake other threads first, at the
// expense of the waiting process. It does not wait if another goroutine does or if there is one processor.
func WaitReadable(fd int) bool { return WaitUntil(time.Now().Add(Period), fd) != 0 }

// CanWait reports whether WaitUntil would wait now.
func CanWait() bool { return runtime.GOMAXPROCS(0) >= 2 && !isWaiting.Load() }

// WaitUntil waits for several descriptors. The result has a bit for each readable one; 0: none until end.
func WaitUntil(end time.Time, fds ...int) (ready uint) {
	if runtime.GOMAXPROCS(0) < 2 || !isWaiting.CompareAndSwap(false, true) {
		return 0
	}
	defer isWaiting.Store(false)
	var polls [MaxDescriptors]unix.PollFd
	n := fillPolls(polls[:], fds)
	for {
		slice := unix.NsecToTimespec(int64(max(0, min(time.Until(end), sleepSlice))))
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

// fillPolls fills poll entries for descriptors and returns their number.
func fillPolls(polls []unix.PollFd, fds []int) (n int) {
	for i := range min(len(fds), len(polls)) {
		polls[i] = unix.PollFd{Fd: int32(fds[i]), Events: unix.POLLIN}
		n++
	}
	return n
}
