package registry

import (
	"time"

	"github.com/longterm-dev/longterm/session/sys"
)

// ClockTick is the resolution of processes' start times.
const ClockTick = sys.Tick

// startOf returns the start time of a process.
func startOf(pid int) (time.Time, bool) {
	age, err := sys.Age(pid)
	return time.Now().Add(-age), err == nil
}
