//go:build unix

package sys

import (
	"os"
	"slices"
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
// be read. In the middle of execve a process has no environment, and for the most part of it no arguments
// either: it is looked at again then.
func MarkOf(pid int, variable string) string {
	const (
		looks  = 30 // at most
		enough = 12 // so many without an environment, though there are arguments: it has none
		pause  = time.Millisecond
	)
	for n, bare := 1, 0; ; n++ {
		env, err := ReadEnviron(pid)
		if err != nil {
			return ""
		}
		if len(env) > 0 {
			value, _ := env.Lookup(variable)
			return value
		}
		argv, _ := Cmdline(pid) // unreadable: as none
		if len(argv) > 0 {
			bare++
		} else if st, err := ReadStat(pid); err != nil || st.Ended() {
			return ""
		}
		if n == looks || bare == enough {
			return ""
		}
		if len(argv) == 0 {
			time.Sleep(pause)
		}
	}
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
