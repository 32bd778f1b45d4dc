//go:build unix

package sys

import (
	"bytes"
	"os"
	"slices"
	"time"
)

// Table is a look at all of the system's processes but ourselves and the kernel's own.
type Table struct {
	stats    map[int]Stat // without their names
	children map[int][]int
	sessions map[int][]int // of terminals, by their leaders
	marked   map[string][]int
}

// kthreadd is the parent of the kernel's own.
const kthreadd = 2

// Look reads the table. variable is the environment variable that marks processes; empty: environments are not read. On
// systems without process data the table is empty.
func Look(variable string) *Table {
	pids, _ := PIDs()
	t := &Table{stats: make(map[int]Stat, len(pids)), children: map[int][]int{}, marked: map[string][]int{}}
	self := os.Getpid() // a system call each time
	for _, pid := range pids {
		if pid == self || pid == kthreadd {
			continue
		}
		st, err := ReadStat(pid)
		if err != nil || st.Parent == kthreadd {
			continue
		}
		mark := ""
		if variable != "" {
			mark = MarkOf(pid, variable)
		}
		t.add(pid, st, mark)
	}
	return t
}

func (t *Table) add(pid int, st Stat, mark string) {
	st.Name = nil
	t.stats[pid] = st
	t.children[st.Parent] = append(t.children[st.Parent], pid)
	if t.sessions == nil {
		t.sessions = map[int][]int{}
	}
	t.sessions[st.Session] = append(t.sessions[st.Session], pid)
	if mark != "" {
		t.marked[mark] = append(t.marked[mark], pid)
	}
}

// MarkOf returns the value of a variable in a process's initial environment, or "" if unset or unreadable. During
// execve a process has no environment: MarkOf then retries.
func MarkOf(pid int, variable string) string {
	const looks, pause = 100, time.Millisecond // it may wait long for its turn on a busy machine
	for range looks {
		env, err := ReadEnviron(pid)
		if err != nil {
			return ""
		}
		if len(env) > 0 {
			value, _ := env.Lookup(variable)
			return value
		}
		if there, settled := environment(pid); settled && !there {
			return ""
		}
		time.Sleep(pause)
	}
	return ""
}

// environment reports whether a process has an environment, by its memory addresses (env_start and env_end of
// proc_pid_stat(5)). During execve the answer is unsettled: both are 0, then equal. A dead process has none.
func environment(pid int) (there, settled bool) {
	b, err := read(pid, "stat")
	if err != nil {
		return false, true
	}
	st, err := ParseStat(b)
	if err != nil || st.IsDead() {
		return false, true
	}
	const from, first = 3, 50 // the number of the field behind the name, and of the first that is wanted
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(fields) <= first+1-from {
		return false, true
	}
	begin, end := string(fields[first-from]), string(fields[first+1-from])
	return begin != end, begin != end || end != "0" && st.State == 'S'
}

// Of finds the processes of leader (0: none) and of a mark: the descendants of the leader and of
// those of its terminal session, and every process that carries the mark, wherever it moved. They
// come sorted by pid; zombies are among them.
func (t *Table) Of(leader int, mark string) []Process {
	var roots []int
	if mark != "" {
		roots = t.marked[mark]
	}
	if leader > 0 {
		roots = append(append(slices.Clip(roots), leader), t.sessions[leader]...)
	}
	return t.below(roots)
}

// Process returns a process of that moment; ok is false if the pid was unused.
func (t *Table) Process(pid int) (p Process, ok bool) {
	st, ok := t.stats[pid]
	return Process{pid, st.Start}, ok
}

// below returns the existing roots and their descendants.
func (t *Table) below(roots []int) []Process {
	found := map[int]bool{}
	var list []Process
	for next := slices.Clone(roots); len(next) > 0; next = next[1:] {
		pid := next[0]
		st, there := t.stats[pid]
		if !there || found[pid] || pid <= 1 {
			continue
		}
		found[pid] = true
		list = append(list, Process{pid, st.Start})
		next = append(next, t.children[pid]...)
	}
	slices.SortFunc(list, func(a, b Process) int { return a.PID - b.PID })
	return list
}
