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

const (
	// lingerTime is how long For waits: longer than a build takes from one execution to the next.
	lingerTime = 20 * time.Millisecond
	// lingerSlice is how long a thread of ours sleeps at most without asking the runtime what else there is to do. The
	// collector interrupts it by a signal.
	lingerSlice = 5 * time.Millisecond
)

// lingering says that a goroutine does: each of them keeps others from a processor of the runtime's.
var lingering atomic.Bool

// For waits a moment for a descriptor that more is likely to be read from soon, with the thread that it is called on, and
// says whether there is something. The kernel can switch to a thread that waits at the descriptor itself; by way of the
// runtime's poller another one is woken first, and the runtime's monitor with it, which then take their time from whoever
// waits for us. Where it would cost others more than that, it does not wait.
func For(fd int) bool {
	if runtime.GOMAXPROCS(0) < 2 || !lingering.CompareAndSwap(false, true) {
		return false
	}
	defer lingering.Store(false)
	for end := time.Now().Add(lingerTime); ; {
		poll := unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
		slice := unix.NsecToTimespec(int64(lingerSlice))
		n, _, errno := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&poll)), 1, uintptr(unsafe.Pointer(&slice)), 0, 0, 0)
		switch {
		case errno != 0 && !errors.Is(errno, unix.EINTR):
			return false
		case errno == 0 && n > 0:
			return true
		case !time.Now().Before(end):
			return false
		}
		runtime.Gosched()
	}
}
