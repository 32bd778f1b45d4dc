//go:build unix

package registry

import (
	"slices"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/sys"
)

// Processes may outlive their session: a background server, a daemon with its own terminal session. They are listed
// with the session and end with `kill` and `rm`; a session that has some is not removed automatically.

// leftPoll is the interval between checks of signaled processes.
const leftPoll = 5 * time.Millisecond

// livingLeftovers returns the processes of an ended session that still live.
func (e *Handle) livingLeftovers() []int {
	if e.Session.Status().State == session.Running {
		return nil
	}
	e.mu.Lock()
	all := e.leftovers
	e.mu.Unlock()
	if len(all) == 0 {
		return nil
	}
	all = sys.FilterAlive(all)
	e.mu.Lock()
	e.leftovers = all
	e.mu.Unlock()
	var pids []int
	for _, p := range all {
		pids = append(pids, p.PID)
	}
	return pids
}

// RecordLeftovers finds the leftover processes of an ended session. It scans all processes only if neither cgroup nor
// keeper narrow the search.
func (h *Registry) RecordLeftovers(e *Handle) []sys.Process {
	return h.recordLeftovers(e, func() []sys.Process { return h.processesOf(e) })
}

// recordLeftovers works like RecordLeftovers with a function that lists the session's processes by a full scan.
func (h *Registry) recordLeftovers(e *Handle, scan func() []sys.Process) []sys.Process {
	var left []sys.Process
	if e.device != nil && (e.device.cgroup != "" || e.device.keeperPID > 0) {
		for _, pid := range e.BackgroundProcesses(time.Time{}) {
			if p, ok := processOf(pid); ok {
				left = append(left, p)
			}
		}
	} else {
		left = sys.FilterAlive(scan())
	}
	e.mu.Lock()
	e.leftovers, e.leftoversKnown = left, true
	e.mu.Unlock()
	return left
}

// RecordLeftoversOnce records leftovers unless that was done. Later changes are mostly exits; maintenance scans again.
func (h *Registry) RecordLeftoversOnce(e *Handle) []sys.Process {
	e.mu.Lock()
	left, looked := e.leftovers, e.leftoversKnown
	e.mu.Unlock()
	if looked {
		return sys.FilterAlive(left)
	}
	return h.RecordLeftovers(e)
}

// processesOf returns a session's processes, including its own.
func (h *Registry) processesOf(e *Handle) []sys.Process { return processesAmong(h.scanner.scan(), e) }

// processesAmong returns a session's processes from a listing, and those in its cgroup now.
func processesAmong(seen *sys.Table, e *Handle) []sys.Process {
	pid := 0
	if st := e.Session.Status(); st.State == session.Running {
		pid = st.PID
	}
	all := seen.SessionProcesses(pid, e.rec.ID)
	if e.device == nil {
		return all
	}
	for _, pid := range inCgroup(e.device.cgroup) { // includes those that cleared their environment
		if p, ok := processOf(pid); ok && !hasProcess(all, pid) {
			all = append(all, p)
		}
	}
	return all
}

// hasProcess reports whether a list has the process with a pid.
func hasProcess(all []sys.Process, pid int) bool {
	for _, p := range all {
		if p.PID == pid {
			return true
		}
	}
	return false
}

// processOf returns the process with a pid.
func processOf(pid int) (sys.Process, bool) {
	st, err := sys.ReadStat(pid)
	return sys.Process{PID: pid, Start: st.Start}, err == nil
}

// inCgroup returns the processes in a cgroup.
func inCgroup(dir string) []int {
	if dir == "" {
		return nil
	}
	members, _ := sys.CgroupMembers(dir) // gone: no process is in it
	return slices.DeleteFunc(members, func(pid int) bool { return pid <= 0 })
}

// killLeftovers terminates leftover processes and waits up to grace.
func (h *Registry) killLeftovers(e *Handle, grace time.Duration, known ...sys.Process) {
	left := h.RecordLeftovers(e)
	for _, p := range sys.FilterAlive(known) {
		if !hasProcess(left, p.PID) {
			left = append(left, p)
		}
	}
	if len(left) == 0 {
		return
	}
	sys.SignalAll(left, syscall.SIGTERM)
	awaitEnd(left, grace)
}

// awaitEnd waits up to within for the end of all processes.
func awaitEnd(all []sys.Process, within time.Duration) {
	t := time.NewTicker(leftPoll)
	defer t.Stop()
	for until := time.Now().Add(within); len(sys.FilterAlive(all)) > 0 && time.Now().Before(until); {
		<-t.C
	}
}

// BackgroundProcesses returns the processes that a session's command left running and that started after since, without the
// session's own and the forks in which its shell expands the prompt. It reads the session's cgroup, or else the children of the session and of its keeper, which adopts
// orphans.
func (e *Handle) BackgroundProcesses(since time.Time) []int {
	leader := e.Session.Status().PID
	var all []int
	switch {
	case e.device == nil:
		return nil
	case e.device.cgroup != "":
		all = inCgroup(e.device.cgroup)
	default:
		all = sys.Descendants(leader)
		adopted, _ := sys.Children(e.device.keeperPID) // fails if the keeper has exited
		for _, pid := range adopted {
			if pid != leader && sys.MarkOf(pid, sessionMark) == e.rec.ID {
				all = append(append(all, pid), sys.Descendants(pid)...)
			}
		}
	}
	var pids []int
	for _, pid := range all {
		if st, err := sys.ReadStat(pid); err != nil || st.State == 'Z' || pid == leader || isFork(pid, &st, leader) {
			continue
		}
		if started, ok := startOf(pid); ok && started.After(since.Add(-ClockTick)) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// isFork reports whether a process is a copy of its parent, the leader, in the leader's process group. A shell with job control
// gives what a line leaves running its own group.
func isFork(pid int, st *sys.Stat, leader int) bool {
	if st.Parent != leader {
		return false
	}
	of, err := sys.ReadStat(leader)
	if err != nil || st.Group != of.Group {
		return false
	}
	argv, err := sys.Cmdline(pid)
	other, otherErr := sys.Cmdline(leader)
	return err == nil && otherErr == nil && slices.Equal(argv, other)
}
