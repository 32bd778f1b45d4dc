//go:build unix

package sys

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"time"
)

// Table is a look at all of the system's processes but ourselves and the kernel's own.
type Table struct {
	stats    map[int]Stat // without their names
	children map[int][]int
	marked   map[string][]int
}

// kthreadd is the parent of the kernel's own.
const kthreadd = 2

// Look reads the table. variable is the one in processes' environments that tells whose they are;
// empty: no environment is read. Where the system does not tell it finds no process.
func Look(variable string) *Table {
	pids, _ := PIDs()
	t := &Table{stats: make(map[int]Stat, len(pids)), children: map[int][]int{}, marked: map[string][]int{}}
	for _, pid := range pids {
		if pid == os.Getpid() || pid == kthreadd {
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
	if mark != "" {
		t.marked[mark] = append(t.marked[mark], pid)
	}
}

// MarkOf is the value of a variable that a process was started with; empty: it has none, or may not
// be read. In the middle of execve a process has no environment: it is looked at again then.
func MarkOf(pid int, variable string) string {
	const looks, pause = 300, time.Millisecond // it may wait long for its turn on a busy machine
	for range looks {
		env, err := ReadEnviron(pid)
		if err != nil {
			return ""
		}
		if len(env) > 0 {
			value, _ := env.Lookup(variable)
			return value
		}
		switch begin, end, ok := environment(pid); {
		case !ok, begin == end && end != 0: // it ended, or was given none
			return ""
		case end == 0:
			time.Sleep(pause)
		}
	}
	return ""
}

// environment tells where a process's environment lies in its memory (env_start and env_end of
// proc_pid_stat(5)): 0 to 0 in the middle of execve. It is not ok of what has ended.
func environment(pid int) (begin, end uint64, ok bool) {
	b, err := read(pid, "stat")
	if err != nil {
		return 0, 0, false
	}
	const from, first = 3, 50 // the number of the field behind the name, and of the first that is wanted
	if st, err := ParseStat(b); err != nil || st.Ended() {
		return 0, 0, false
	}
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(fields) <= first+1-from {
		return 0, 0, false
	}
	begin, err1 := strconv.ParseUint(string(fields[first-from]), 10, 64)
	end, err2 := strconv.ParseUint(string(fields[first+1-from]), 10, 64)
	return begin, end, err1 == nil && err2 == nil
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
		roots = append(slices.Clip(roots), leader)
		for pid, st := range t.stats {
			if st.Session == leader {
				roots = append(roots, pid)
			}
		}
	}
	return t.below(roots)
}

// Process is a process of that moment; ok is false when there was none of that number.
func (t *Table) Process(pid int) (p Process, ok bool) {
	st, ok := t.stats[pid]
	return Process{pid, st.Start}, ok
}

// below are those of the roots that there are, and their descendants.
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
