//go:build unix

package sys

import (
	"slices"
	"strconv"
	"syscall"
)

// Process is one of the system's. A pid is used again, with another start; the zero Start is
// no process whose start is not known.
type Process struct {
	PID   int
	Start uint64 // Stat.Start
}

// Lives reports whether a process has not ended; a zombie has.
func (p Process) Lives() bool {
	st, err := ReadStat(p.PID)
	return err == nil && st.Start == p.Start && !st.IsDead()
}

// Ignores reports whether a process ignores a signal (SigIgn of /proc/PID/status).
func (p Process) Ignores(sig syscall.Signal) bool {
	mask, err := Field(p.PID, "status", "SigIgn")
	if err != nil {
		return false
	}
	set, err := strconv.ParseUint(mask, 16, 64)
	return err == nil && sig > 0 && set>>(uint(sig)-1)&1 == 1
}

// Signal signals a process unless its pid was reused. It resumes a stopped one, which otherwise receives the signal
// later.
func (p Process) Signal(sig syscall.Signal) {
	st, err := ReadStat(p.PID)
	if err != nil || st.Start != p.Start {
		return
	}
	_ = syscall.Kill(p.PID, sig) // gone already is fine
	if st.State == 'T' && sig != syscall.SIGKILL {
		_ = syscall.Kill(p.PID, syscall.SIGCONT)
	}
}

// SignalAll signals each process whose pid was not reused.
func SignalAll(procs []Process, sig syscall.Signal) {
	for _, p := range procs {
		p.Signal(sig)
	}
}

// Living returns the processes that have not ended.
func Living(all []Process) []Process {
	return slices.DeleteFunc(slices.Clone(all), func(p Process) bool { return !p.Lives() })
}
