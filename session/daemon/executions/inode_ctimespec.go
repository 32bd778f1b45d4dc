//go:build darwin || freebsd || netbsd

package executions

import (
	"syscall"
	"time"
)

// inodeTime returns when a file or its metadata (name, mode, times) last changed.
func inodeTime(st *syscall.Stat_t) time.Time { return time.Unix(st.Ctimespec.Unix()) }
