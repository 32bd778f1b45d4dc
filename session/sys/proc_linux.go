package sys

import (
	"errors"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const root = "/proc"

// uptime returns the time since boot, sleep included.
func uptime() (time.Duration, error) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return 0, os.NewSyscallError("clock_gettime", err)
	}
	return time.Duration(now.Nano()), nil
}

// noPidfdInfo is set if the kernel lacks PIDFD_GET_INFO (before Linux 6.13).
var noPidfdInfo atomic.Bool

// Parent returns the current parent of a process or thread. It is ten times cheaper than Stat.Parent; processes wait for it
// in execve.
func Parent(pid int) (int, error) {
	if noPidfdInfo.Load() {
		return statParent(pid)
	}
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_THREAD)
	if err != nil { // an old kernel, or the process has exited
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
