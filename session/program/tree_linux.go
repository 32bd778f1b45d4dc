package program

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/sys"
)

const (
	maxRSSUnit = 1024 // ru_maxrss is in KiB, getrusage(2)
	canProbe   = true // the kernel tells what a program waits for
)

// nap sleeps for less than the runtime's timers can.
func nap(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&ts, nil)
}

// tree finds the processes that belong to the program and live: those of its terminal
// session, its descendants, and whatever carries its mark, wherever it moved itself.
func (h *ptyHost) tree() []int {
	leader := h.cmd.Process.Pid
	var pids []int
	for _, p := range sys.Look(programMark).Of(leader, h.mark) {
		if p.PID == leader && h.reaped.Load() || !p.Lives() {
			continue
		}
		pids = append(pids, p.PID)
	}
	return pids
}
