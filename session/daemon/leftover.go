//go:build unix

package daemon

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session"
)

// What a session started may outlive it: a server put into the background, a daemon with a
// terminal session of its own. It is listed with the session, ends with `kill` and `rm`, and
// a session that has such processes is not removed by itself.

// leftPoll is how often processes that were told to end are looked at.
const leftPoll = 5 * time.Millisecond

// left are the processes that an ended session left behind and that live still.
func (e *entry) leftover() []int {
	if e.s.Status().State == session.Running {
		return nil
	}
	e.mu.Lock()
	all := e.left
	e.mu.Unlock()
	if len(all) == 0 {
		return nil
	}
	all = living(all)
	e.mu.Lock()
	e.left = all
	e.mu.Unlock()
	var pids []int
	for _, p := range all {
		pids = append(pids, p.pid)
	}
	return pids
}

// noteLeft looks for what an ended session left behind: at all processes only when it is not
// known where else to look.
func (h *hub) noteLeft(e *entry) []process {
	var left []process
	if e.dev != nil && (e.dev.cgroup != "" || e.dev.keeperPID > 0) {
		for _, pid := range h.background(e, time.Time{}) {
			if st, ok := statOf(pid); ok {
				left = append(left, process{pid, st.start})
			}
		}
	} else {
		left = living(h.processesOf(e))
	}
	e.mu.Lock()
	e.left, e.looked = left, true
	e.mu.Unlock()
	return left
}

// seeLeft is noteLeft unless that was done: what is left behind becomes fewer, mostly, and the
// janitor looks again.
func (h *hub) seeLeft(e *entry) []process {
	e.mu.Lock()
	left, looked := e.left, e.looked
	e.mu.Unlock()
	if looked {
		return living(left)
	}
	return h.noteLeft(e)
}

// noteAllLeft does that for all ended sessions, with one look.
func (h *hub) noteAllLeft() {
	var seen *processes
	for _, e := range h.all() {
		if e.s.Status().State == session.Running {
			continue
		}
		if e.dev != nil && e.dev.cgroup != "" { // which knows better
			h.noteLeft(e)
			continue
		}
		if seen == nil {
			seen = h.walker.look()
		}
		left := living(seen.of(0, e.rec.ID))
		e.mu.Lock()
		e.left, e.looked = left, true
		e.mu.Unlock()
	}
}

// processesOf are a session's processes, its own among them while it runs.
func (h *hub) processesOf(e *entry) []process {
	pid := 0
	if st := e.s.Status(); st.State == session.Running {
		pid = st.PID
	}
	all := h.walker.look().of(pid, e.rec.ID)
	if e.dev == nil {
		return all
	}
	for _, pid := range inCgroup(e.dev.cgroup) { // who cleared their environment, too
		if st, ok := statOf(pid); ok && !hasProcess(all, pid) {
			all = append(all, process{pid, st.start})
		}
	}
	return all
}

func hasProcess(all []process, pid int) bool {
	for _, p := range all {
		if p.pid == pid {
			return true
		}
	}
	return false
}

// inCgroup are the processes in a cgroup; empty: there is none.
func inCgroup(dir string) []int {
	if dir == "" {
		return nil
	}
	b, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return nil
	}
	var pids []int
	for _, f := range strings.Fields(string(b)) {
		if pid, err := strconv.Atoi(f); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// endLeft has what a session left behind end: it is terminated, and given time.
func (h *hub) endLeft(e *entry, grace time.Duration, known ...process) {
	left := h.noteLeft(e)
	for _, p := range living(known) {
		if !hasProcess(left, p.pid) {
			left = append(left, p)
		}
	}
	if len(left) == 0 {
		return
	}
	signalProcesses(left, syscall.SIGTERM)
	awaitEnd(left, grace)
}

// awaitEnd waits for the end of all, for so long.
func awaitEnd(all []process, within time.Duration) {
	t := time.NewTicker(leftPoll)
	defer t.Stop()
	for until := time.Now().Add(within); len(living(all)) > 0 && time.Now().Before(until); {
		<-t.C
	}
}

// background are the processes that a session's command left running, its own process not
// among them, that started after a time. It asks nobody that takes long: the session's
// cgroup, else the kernel's lists of children: the session's own, and its keeper's, who gets
// those whose parents ended.
func (h *hub) background(e *entry, since time.Time) []int {
	leader := e.s.Status().PID
	var all []int
	switch {
	case e.dev == nil:
		return nil
	case e.dev.cgroup != "":
		all = inCgroup(e.dev.cgroup)
	default:
		all = children(leader, nil)
		for _, pid := range childrenOf(e.dev.keeperPID) {
			if pid != leader && markOf(pid) == e.rec.ID {
				all = children(pid, append(all, pid))
			}
		}
	}
	var pids []int
	for _, pid := range all {
		if st, ok := statOf(pid); !ok || st.state == 'Z' || pid == leader {
			continue
		}
		if started, ok := startOf(pid); ok && started.After(since.Add(-clockTick)) {
			pids = append(pids, pid)
		}
	}
	return pids
}
