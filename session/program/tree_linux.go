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

// tree finds the processes that belong to the program and live: those of its terminal
// session, its descendants, and all that carry its mark, wherever they moved themselves. A killed process loses its mark
// and its parent before it has ended: each process that was found stays in the tree up to its end.
func (h *ptyHost) tree() []int {
	leader := h.cmd.Process.Pid
	all := sys.Look(programMark).Of(leader, h.mark)
	for _, p := range h.found {
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	h.found = sys.Living(all)
	var pids []int
	for _, p := range h.found {
		if p.PID != leader || !h.reaped.Load() {
			pids = append(pids, p.PID)
		}
	}
	return pids
}
