//go:build unix

package registry

import (
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/sys"
)

// sessionMark is in the environment of everything a session starts.
const sessionMark = "LONGTERM_SESSION"

// lookAtProcesses looks at all of the system's processes, and at whose they are.
func lookAtProcesses() *sys.Table { return sys.Look(sessionMark) }

// walker looks at the processes for many callers at once: those who ask during a look get the next
// one, which has seen all that there was when they asked.
type walker struct {
	read func() *sys.Table // nil: lookAtProcesses

	mu      sync.Mutex
	running bool
	next    *walk
}

type walk struct {
	done chan struct{}
	seen *sys.Table
}

func (w *walker) look() *sys.Table {
	w.mu.Lock()
	if w.next == nil {
		w.next = &walk{done: make(chan struct{})}
	}
	k := w.next
	if !w.running {
		w.running = true
		go w.run()
	}
	w.mu.Unlock()
	<-k.done
	return k.seen
}

func (w *walker) run() {
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
			k.seen = w.read()
		} else {
			k.seen = lookAtProcesses()
		}
		close(k.done)
	}
}

// began returns the processes of a session that started after a time, without its shell.
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
