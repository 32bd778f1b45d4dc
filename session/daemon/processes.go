//go:build unix

package daemon

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// process is one of the system's; a pid is used again, with another start.
type process struct {
	pid   int
	start string // field 22 of /proc/PID/stat
}

// processes is a look at all of the system's processes.
type processes struct {
	parents, sids map[int]int
	starts        map[int]string
	children      map[int][]int
	marked        map[string][]int // by the session's id in their environment
}

// sessionMark is in the environment of everything a session starts.
const sessionMark = "LONGTERM_SESSION="

// lookAtProcesses reads /proc; elsewhere it finds nobody.
func lookAtProcesses() *processes {
	t := &processes{map[int]int{}, map[int]int{}, map[int]string{}, map[int][]int{}, map[string][]int{}}
	dir, err := os.Open("/proc")
	if err != nil {
		return t
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // what there is
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == os.Getpid() {
			continue
		}
		st, ok := statOf(pid)
		if !ok || st.parent == 2 || pid == 2 { // of the kernel's
			continue
		}
		t.parents[pid], t.sids[pid], t.starts[pid] = st.parent, st.sid, st.start
		t.children[st.parent] = append(t.children[st.parent], pid)
		if id := markOf(pid); id != "" {
			t.marked[id] = append(t.marked[id], pid)
		}
	}
	return t
}

// of finds a session's processes: the descendants of pid (0: none) and those of its terminal
// session, and every process whose environment carries the session's id, wherever it moved.
func (t *processes) of(pid int, id string) []process {
	found := map[int]bool{}
	var add func(pid int)
	add = func(pid int) {
		if !found[pid] && pid > 1 && t.starts[pid] != "" {
			found[pid] = true
			for _, child := range t.children[pid] {
				add(child)
			}
		}
	}
	for _, p := range t.marked[id] {
		add(p)
	}
	if pid > 0 {
		add(pid)
		for p, sid := range t.sids {
			if sid == pid {
				add(p)
			}
		}
	}
	list := make([]process, 0, len(found))
	for p := range found {
		list = append(list, process{p, t.starts[p]})
	}
	slices.SortFunc(list, func(a, b process) int { return a.pid - b.pid })
	return list
}

// markOf is the id of the session that a process belongs to; empty: of none, or not to be
// read.
func markOf(pid int) string {
	env, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil {
		return ""
	}
	if !bytes.HasPrefix(env, []byte(sessionMark)) {
		_, after, found := bytes.Cut(env, []byte("\x00"+sessionMark))
		if !found {
			return ""
		}
		env = after
	} else {
		env = env[len(sessionMark):]
	}
	id, _, _ := bytes.Cut(env, []byte{0})
	return string(id)
}

// stat is what /proc/PID/stat says, proc_pid_stat(5).
type stat struct {
	state       byte
	parent, sid int
	start       string
}

func statOf(pid int) (stat, bool) {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return stat{}, false
	}
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:])) // the name before it may hold anything
	if len(f) < 20 {
		return stat{}, false
	}
	st := stat{state: f[0][0], start: f[19]}
	st.parent, _ = strconv.Atoi(f[1])
	st.sid, _ = strconv.Atoi(f[3])
	return st, true
}

// lives says that a process has not ended; one that only waits for its parent has.
func (p process) lives() bool {
	st, ok := statOf(p.pid)
	return ok && st.start == p.start && st.state != 'Z' && st.state != 'X'
}

// ignores says that a signal does nothing to a process (SigIgn of /proc/PID/status).
func (p process) ignores(sig syscall.Signal) bool {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.pid), "status"))
	if err != nil {
		return false
	}
	_, after, _ := bytes.Cut(b, []byte("\nSigIgn:\t"))
	mask, _, _ := bytes.Cut(after, []byte("\n"))
	set, err := strconv.ParseUint(string(mask), 16, 64)
	return err == nil && set>>(uint(sig)-1)&1 == 1
}

func living(all []process) []process {
	return slices.DeleteFunc(slices.Clone(all), func(p process) bool { return !p.lives() })
}

// signalProcesses signals those that are still who they were. What is stopped hears a signal
// only when it goes on.
func signalProcesses(procs []process, sig syscall.Signal) {
	for _, p := range procs {
		st, ok := statOf(p.pid)
		if !ok || st.start != p.start {
			continue
		}
		_ = syscall.Kill(p.pid, sig) // gone already is fine
		if st.state == 'T' && sig != syscall.SIGKILL {
			_ = syscall.Kill(p.pid, syscall.SIGCONT)
		}
	}
}

// walker looks at the processes for many at once: whoever asks during a look gets the next
// one, which has seen all that there was when they asked.
type walker struct {
	read func() *processes // nil: lookAtProcesses

	mu      sync.Mutex
	running bool
	next    *walk
}

type walk struct {
	done chan struct{}
	seen *processes
}

func (w *walker) look() *processes {
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
