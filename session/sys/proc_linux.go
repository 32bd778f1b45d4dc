package sys

import (
	"errors"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const root = "/proc"

// uptime is how long ago the machine was started, with the time it slept.
func uptime() (time.Duration, error) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return 0, os.NewSyscallError("clock_gettime", err)
	}
	return time.Duration(now.Nano()), nil
}

// noPidfdInfo is set where the kernel tells nothing of a process by its descriptor (before Linux 6.13).
var noPidfdInfo atomic.Bool

// Parent is the process that a process or thread was started by, or that has it since that one ended. It is Stat.Parent
// for a tenth of what that costs: somebody waits for it in execve.
func Parent(pid int) (int, error) {
	if noPidfdInfo.Load() {
		return statParent(pid)
	}
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_THREAD)
	if err != nil { // a kernel that knows no threads by descriptors; or it has ended
		return statParent(pid)
	}
	defer unix.Close(fd)
	info := unix.PidfdInfo{Mask: unix.PIDFD_INFO_PID}
	switch err := unix.IoctlPidfdInfo(fd, &info); {
	case errors.Is(err, unix.ENOTTY), errors.Is(err, unix.EINVAL):
		noPidfdInfo.Store(true)
		return statParent(pid)
	case err != nil || info.Mask&unix.PIDFD_INFO_PID == 0:
		return statParent(pid)
	}
	return int(info.Ppid), nil
}
