//go:build unix

package registry

import (
	"slices"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/sys"
)

// What a session started may outlive it: a server put into the background, a daemon with a
// terminal session of its own. It is listed with the session, ends with `kill` and `rm`, and
// a session that has such processes is not removed by itself.

// leftPoll is how often processes that were told to end are looked at.
const leftPoll = 5 * time.Millisecond

// left are the processes that an ended session left behind and that live still.
func (e *Handle) leftover() []int {
	if e.Session.Status().State == session.Running {
		return nil
	}
	e.mu.Lock()
	all := e.left
	e.mu.Unlock()
	if len(all) == 0 {
		return nil
	}
	all = sys.Living(all)
	e.mu.Lock()
	e.left = all
	e.mu.Unlock()
	var pids []int
	for _, p := range all {
		pids = append(pids, p.PID)
	}
	return pids
}

// NoteLeft looks for what an ended session left behind: at all processes only when it is not
// known where else to look.
func (h *Registry) NoteLeft(e *Handle) []sys.Process {
	return h.noteLeft(e, func() []sys.Process { return h.processesOf(e) })
}

// noteLeft is NoteLeft; look is at all processes.
func (h *Registry) noteLeft(e *Handle, look func() []sys.Process) []sys.Process {
	var left []sys.Process
	if e.device != nil && (e.device.cgroup != "" || e.device.keeperPID > 0) {
		for _, pid := range e.Background(time.Time{}) {
			if p, ok := processOf(pid); ok {
				left = append(left, p)
			}
		}
	} else {
		left = sys.Living(look())
	}
	e.mu.Lock()
	e.left, e.looked = left, true
	e.mu.Unlock()
	return left
}

// SeeLeft is noteLeft unless that was done: what is left behind becomes fewer, mostly, and the
// maintenance looks again.
func (h *Registry) SeeLeft(e *Handle) []sys.Process {
	e.mu.Lock()
	left, looked := e.left, e.looked
	e.mu.Unlock()
	if looked {
		return sys.Living(left)
	}
	return h.NoteLeft(e)
}

// processesOf are a session's processes, its own among them while it runs.
func (h *Registry) processesOf(e *Handle) []sys.Process { return processesAmong(h.walker.look(), e) }

// processesAmong are a session's among all that were seen, and those in its cgroup now.
func processesAmong(seen *sys.Table, e *Handle) []sys.Process {
	pid := 0
	if st := e.Session.Status(); st.State == session.Running {
		pid = st.PID
	}
	all := seen.Of(pid, e.rec.ID)
	if e.device == nil {
		return all
	}
	for _, pid := range inCgroup(e.device.cgroup) { // who cleared their environment, too
		if p, ok := processOf(pid); ok && !hasProcess(all, pid) {
			all = append(all, p)
		}
	}
	return all
}

func hasProcess(all []sys.Process, pid int) bool {
	for _, p := range all {
		if p.PID == pid {
			return true
		}
	}
	return false
}

// processOf is the process that has a number now.
func processOf(pid int) (sys.Process, bool) {
	st, err := sys.ReadStat(pid)
	return sys.Process{PID: pid, Start: st.Start}, err == nil
}

// inCgroup are the processes in a cgroup; empty: there is none.
func inCgroup(dir string) []int {
	if dir == "" {
		return nil
	}
	members, _ := sys.CgroupMembers(dir) // gone: no process is in it
	return slices.DeleteFunc(members, func(pid int) bool { return pid <= 0 })
}

// endLeft has what a session left behind end: it is terminated, and given time.
func (h *Registry) endLeft(e *Handle, grace time.Duration, known ...sys.Process) {
	left := h.NoteLeft(e)
	for _, p := range sys.Living(known) {
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

// awaitEnd waits for the end of all, for so long.
func awaitEnd(all []sys.Process, within time.Duration) {
	t := time.NewTicker(leftPoll)
	defer t.Stop()
	for until := time.Now().Add(within); len(sys.Living(all)) > 0 && time.Now().Before(until); {
		<-t.C
	}
}

// Background are the processes that a session's command left running, its own process not
// among them, that started after a time. It asks nothing that takes long: the session's
// cgroup, else the kernel's lists of children: the session's own, and its keeper's, who gets
// those whose parents ended.
func (e *Handle) Background(since time.Time) []int {
	leader := e.Session.Status().PID
	var all []int
	switch {
	case e.device == nil:
		return nil
	case e.device.cgroup != "":
		all = inCgroup(e.device.cgroup)
	default:
		all = sys.Descendants(leader)
		adopted, _ := sys.Children(e.device.keeperPID) // gone: it has none
		for _, pid := range adopted {
			if pid != leader && sys.MarkOf(pid, sessionMark) == e.rec.ID {
				all = append(append(all, pid), sys.Descendants(pid)...)
			}
		}
	}
	var pids []int
	for _, pid := range all {
		if st, err := sys.ReadStat(pid); err != nil || st.State == 'Z' || pid == leader {
			continue
		}
		if started, ok := startOf(pid); ok && started.After(since.Add(-ClockTick)) {
			pids = append(pids, pid)
		}
	}
	return pids
}
