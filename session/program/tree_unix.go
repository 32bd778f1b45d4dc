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

// shortSleep returns at once: this system's timers are not finer.
func shortSleep(time.Duration) {}

// processes returns the program's process group only: this system has no /proc.
func (h *ptyHost) processes() []int {
	pid := h.cmd.Process.Pid
	if syscall.Kill(-pid, 0) != nil {
		return nil
	}
	return []int{-pid}
}
