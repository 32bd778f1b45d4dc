//go:build unix && !linux

package program

import (
	"syscall"
	"time"
)

const (
	maxRSSUnit = 1 // ru_maxrss is in bytes here
	canProbe   = false
)

func shortSleep(time.Duration) {}

// tree returns the program's process group only: this system has no /proc to walk.
func (h *ptyHost) tree() []int {
	pid := h.cmd.Process.Pid
	if syscall.Kill(-pid, 0) != nil {
		return nil
	}
	return []int{-pid}
}
