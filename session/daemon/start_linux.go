package daemon

import (
	"time"

	"github.com/longterm-dev/longterm/session/sys"
)

// clockTick is the resolution of processes' start times.
const clockTick = sys.Tick

// startOf is when a process started.
func startOf(pid int) (time.Time, bool) {
	age, err := sys.Age(pid)
	return time.Now().Add(-age), err == nil
}
