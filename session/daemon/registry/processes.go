//go:build unix

package registry

import (
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/sys"
)

// sessionMark is in the environment of everything a session starts.
const sessionMark = "LONGTERM_SESSION"

// scanProcesses lists the system's processes and their session marks.
func scanProcesses() *sys.Table { return sys.ReadTable(sessionMark) }

// scanner lists processes for concurrent callers. Callers that arrive during a listing share the next one, which
// includes all processes from before their call.
type scanner struct {
	read func() *sys.Table // nil: scanProcesses

	mu      sync.Mutex
	running bool
	next    *scanRun
}

// scanRun is a process listing in progress.
type scanRun struct {
	done  chan struct{}
	table *sys.Table
}

// scan returns a process listing that started after the call.
func (w *scanner) scan() *sys.Table {
	w.mu.Lock()
	if w.next == nil {
		w.next = &scanRun{done: make(chan struct{})}
	}
	k := w.next
	if !w.running {
		w.running = true
		go w.run()
	}
	w.mu.Unlock()
	<-k.done
	return k.table
}

// run performs listings until no caller waits.
func (w *scanner) run() {
	for {
		w.mu.Lock()
		k := w.next
		w.next = nil
		w.running = k != nil
		w.mu.Unlock()
		if k == nil {
			return
		}
		if w.read != nil {
			k.table = w.read()
		} else {
			k.table = scanProcesses()
		}
		close(k.done)
	}
}

// PIDs returns the processes of each session: those in its cgroup; without one the descendants of its first process and
// those that its keeper adopted; of an ended session what it left.
func (h *Registry) PIDs(of []*Handle) [][]int {
	pids := make([][]int, len(of))
	adopted := map[string]int{} // places in of of sessions with processes that their keepers adopted
	keepers := map[int]bool{}
	for i, e := range of {
		leader := e.Session.Status().PID
		switch {
		case e.device == nil:
		case e.Session.Status().State != session.Running:
			for _, p := range h.RecordLeftoversOnce(e) {
				pids[i] = append(pids[i], p.PID)
			}
		case e.device.cgroup != "":
			pids[i] = inCgroup(e.device.cgroup)
		case leader > 0:
			pids[i] = append([]int{leader}, sys.Descendants(leader)...)
			adopted[e.ID()], keepers[e.device.keeperPID] = i, true
		}
	}
	if len(adopted) == 0 {
		return pids
	}
	leaders := map[int]bool{}
	for _, e := range h.snapshot() {
		leaders[e.Session.Status().PID] = true
	}
	delete(keepers, 0) // unknown
	for keeper := range keepers {
		children, _ := sys.Children(keeper) // fails if the keeper has exited
		for _, pid := range children {
			if leaders[pid] {
				continue
			}
			if i, of := adopted[sys.MarkOf(pid, sessionMark)]; of {
				pids[i] = append(append(pids[i], pid), sys.Descendants(pid)...)
			}
		}
	}
	return pids
}

// processesStartedSince returns the processes of a session that started after a time, without its shell.
func (h *Registry) processesStartedSince(e *Handle, since time.Time) []int {
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
