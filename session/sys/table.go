//go:build unix

package sys

import (
	"bytes"
	"os"
	"slices"
	"time"
)

// Table is a snapshot of all processes except this one and kernel threads.
type Table struct {
	stats     map[int]Stat // without their names
	children  map[int][]int
	bySession map[int][]int // members of terminal sessions, by leader
	byMark    map[string][]int
}

// kthreadd is the pid of the parent of kernel threads.
const kthreadd = 2

// ReadTable reads the table. variable is the environment variable that marks processes; empty: environments are not read.
// On systems without process data the table is empty.
func ReadTable(variable string) *Table {
	pids, _ := PIDs()
	t := &Table{stats: make(map[int]Stat, len(pids)), children: map[int][]int{}, byMark: map[string][]int{}}
	self := os.Getpid() // one system call for all
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
	if t.bySession == nil {
		t.bySession = map[int][]int{}
	}
	t.bySession[st.SessionLeader] = append(t.bySession[st.SessionLeader], pid)
	if mark != "" {
		t.byMark[mark] = append(t.byMark[mark], pid)
	}
}

// MarkOf returns the value of a variable in a process's initial environment, or "" if unset or unreadable. During
// execve a process has no environment: MarkOf then retries.
func MarkOf(pid int, variable string) string {
	const maxAttempts, pause = 100, time.Millisecond // the process may wait long for a processor
	for range maxAttempts {
		env, err := ReadEnviron(pid)
		if err != nil {
			return ""
		}
		if len(env) > 0 {
			value, _ := env.Lookup(variable)
			return value
		}
		if exists, isSettled := hasEnvironment(pid); isSettled && !exists {
			return ""
		}
		time.Sleep(pause)
	}
	return ""
}

// hasEnvironment reports whether a process has an environment, by its memory addresses (env_start and env_end of
// proc_pid_stat(5)). isSettled is false during execve: both are 0, then equal. A dead process has none.
func hasEnvironment(pid int) (exists, isSettled bool) {
	b, err := readProcFile(pid, "stat")
	if err != nil {
		return false, true
	}
	st, err := ParseStat(b)
	if err != nil || st.IsDead() {
		return false, true
	}
	const from, first = 3, 50 // number of the first field after the name, and of the first one used
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(fields) <= first+1-from {
		return false, true
	}
	begin, end := string(fields[first-from]), string(fields[first+1-from])
	return begin != end, begin != end || end != "0" && st.State == 'S'
}

// SessionProcesses returns the processes of a leader (0: none) and of a mark, sorted by pid and with zombies: the
// descendants of the leader and of those of its terminal session, and every process with the mark, wherever it moved.
func (t *Table) SessionProcesses(leader int, mark string) []Process {
	var roots []int
	if mark != "" {
		roots = t.byMark[mark]
	}
	if leader > 0 {
		roots = append(append(slices.Clip(roots), leader), t.bySession[leader]...)
	}
	return t.withDescendants(roots)
}

// Process returns a process of the snapshot; ok is false if the pid was unused.
func (t *Table) Process(pid int) (p Process, ok bool) {
	st, ok := t.stats[pid]
	return Process{pid, st.Start}, ok
}

// withDescendants returns the existing roots and their descendants.
func (t *Table) withDescendants(roots []int) []Process {
	found := map[int]bool{}
	var list []Process
	for next := slices.Clone(roots); len(next) > 0; next = next[1:] {
		pid := next[0]
		st, exists := t.stats[pid]
		if !exists || found[pid] || pid <= 1 {
			continue
		}
		found[pid] = true
		list = append(list, Process{pid, st.Start})
		next = append(next, t.children[pid]...)
	}
	slices.SortFunc(list, func(a, b Process) int { return a.PID - b.PID })
	return list
}
