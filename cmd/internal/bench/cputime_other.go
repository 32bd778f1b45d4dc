//go:build unix && !linux

package bench

import (
	"time"

	"github.com/longterm-dev/longterm/session/sys"
)

// cpuTime is the user and system time that a process has used.
func cpuTime(pid int) (time.Duration, error) {
	st, err := sys.ReadStat(pid)
	return st.Used(), err
}
