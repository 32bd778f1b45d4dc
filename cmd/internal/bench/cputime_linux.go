package bench

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is the user and system time that a process has used. Its clock counts nanoseconds (clock_getcpuclockid(3)); what
// /proc says of it counts hundredths of a second, which is more than a process at rest takes in a second.
func cpuTime(pid int) (time.Duration, error) {
	var used unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|processClock), &used); err != nil {
		return 0, fmt.Errorf("the processor time of process %d: %w", pid, err)
	}
	return time.Duration(used.Nano()), nil
}

// processClock says what a clock made of a process's id counts: all its threads' time, as the scheduler knows it.
const processClock = 2
