package bench

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime returns the user and system time of a process. Its clock counts nanoseconds (clock_getcpuclockid(3)); /proc
// counts hundredths of a second, more than an idle process uses in a second.
func cpuTime(pid int) (time.Duration, error) {
	var used unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|processClock), &used); err != nil {
		return 0, fmt.Errorf("the processor time of process %d: %w", pid, err)
	}
	return time.Duration(used.Nano()), nil
}

// processClock selects the clock of all of a process's threads, as measured by the scheduler.
const processClock = 2
