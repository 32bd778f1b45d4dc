// Package linger waits at a descriptor with the calling thread, for the time in which more is likely to come.
package linger

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

// lingering says that a goroutine does: each of them keeps others from a processor of the runtime's.
var lingering atomic.Bool

// For waits a moment for a descriptor that more is likely to be read from soon, with the thread that it is called on, and
// says whether there is something. The kernel can switch to a thread that waits at the descriptor itself; by way of the
// runtime's poller another one is woken first, and the runtime's monitor with it, which then take their time from whoever
// waits for us. Where it would cost others more than that, it does not wait.
func For(fd int) bool { return Until(time.Now().Add(Time), fd) != 0 }

// Can says that Until would wait now.
func Can() bool { return runtime.GOMAXPROCS(0) >= 2 && !lingering.Load() }

// Until is For of some descriptors. The answer has a bit for each that there is something at; 0: there was nothing until then.
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
