//go:build unix && !darwin && !freebsd && !netbsd

package executions

import (
	"syscall"
	"time"
)

// inodeTime is when a file was last changed, its name, mode and times included.
func inodeTime(st *syscall.Stat_t) time.Time { return time.Unix(st.Ctim.Unix()) }
