//go:build unix

package registry

import (
	"time"
)

// began are a session's processes, the shell not among them, that started after a time.
func (h *Registry) began(e *Handle, since time.Time) []int {
	shellPID := e.Session.Status().PID
	var pids []int
	for _, p := range h.processesOf(e) {
		pid := p.PID
		if started, ok := startOf(pid); ok && pid != shellPID && started.After(since.Add(-ClockTick)) {
			pids = append(pids, pid)
		}
	}
	return pids
}
