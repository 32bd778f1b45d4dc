package daemon

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// clockTick is the resolution of processes' start times (USER_HZ).
const clockTick = 10 * time.Millisecond

// startOf is when a process started (proc(5): field 22 of stat, in ticks since boot).
func startOf(pid int) (time.Time, bool) {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return time.Time{}, false
	}
	f := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(f) < 20 {
		return time.Time{}, false
	}
	ticks, err := strconv.ParseInt(f[19], 10, 64)
	if err != nil {
		return time.Time{}, false
	}
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return time.Time{}, false
	}
	age := time.Duration(now.Nano()) - time.Duration(ticks)*clockTick
	return time.Now().Add(-age), true
}
