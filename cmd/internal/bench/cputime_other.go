//go:build unix && !linux

package bench

import (
	"time"

	"github.com/longterm-dev/longterm/session/sys"
)

// cpuTime returns the user and system time of a process.
func cpuTime(pid int) (time.Duration, error) {
	st, err := sys.ReadStat(pid)
	return st.CPUTime(), err
}
