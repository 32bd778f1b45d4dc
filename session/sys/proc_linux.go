package sys

import (
	"os"
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
