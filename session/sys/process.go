//go:build unix

package sys

import (
	"slices"
	"strconv"
	"syscall"
)

// Process identifies a process across reuse of its pid, by its start time. A zero Start is an unknown start time.
type Process struct {
	PID   int
	Start uint64 // Stat.Start
}

// IsAlive reports whether a process exists and is not a zombie.
func (p Process) IsAlive() bool {
	st, err := ReadStat(p.PID)
	return err == nil && st.Start == p.Start && !st.IsDead()
}

// IgnoresSignal reports whether a process ignores a signal (SigIgn of /proc/PID/status).
func (p Process) IgnoresSignal(sig syscall.Signal) bool {
	mask, err := Field(p.PID, "status", "SigIgn")
	if err != nil {
		return false
	}
	set, err := strconv.ParseUint(mask, 16, 64)
	return err == nil && sig > 0 && set>>(uint(sig)-1)&1 == 1
}

// Signal signals a process unless its pid was reused. It resumes a stopped one, which would receive the signal only later.
func (p Process) Signal(sig syscall.Signal) {
	st, err := ReadStat(p.PID)
	if err != nil || st.Start != p.Start {
		return
	}
	_ = syscall.Kill(p.PID, sig) // may have exited
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

// FilterAlive returns the processes that have not exited.
func FilterAlive(all []Process) []Process {
	return slices.DeleteFunc(slices.Clone(all), func(p Process) bool { return !p.IsAlive() })
}
