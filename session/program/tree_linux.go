package program

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/sys"
)

const (
	maxRSSUnit = 1024 // ru_maxrss is in KiB, getrusage(2)
	canProbe   = true // the kernel reports what a program waits for
)

// shortSleep sleeps for a time that is shorter than the runtime's timers support.
func shortSleep(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&ts, nil)
}

// processes returns the living processes of the program: those of its terminal session, its descendants, and all with
// its environment variable. A killed process loses its environment and its parent before it has ended, so each found
// process stays in the list until its end.
func (h *ptyHost) processes() []int {
	leader := h.cmd.Process.Pid
	all := sys.ReadTable(programEnvVar).SessionProcesses(leader, h.id)
	for _, p := range h.knownProcesses {
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	h.knownProcesses = sys.FilterAlive(all)
	var pids []int
	for _, p := range h.knownProcesses {
		if p.PID != leader || !h.reaped.Load() {
			pids = append(pids, p.PID)
		}
	}
	return pids
}
