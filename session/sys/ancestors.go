//go:build unix

package sys

import (
	"bytes"
	"os"
)

// Ancestor is a process in a line of descent.
type Ancestor struct {
	Process
	Session int // its terminal session's leader
}

// maxAncestors bounds a line of descent; more of them are a loop that the reading met.
const maxAncestors = 1024

// Ancestors are a process and those it descends from, itself first, as far as they can be read. The error says that it
// is not there itself. A line that changed while it was read (a parent ended) is read again.
func Ancestors(pid int) (line []Ancestor, err error) {
	const looks = 10
	for range looks {
		var whole bool
		if line, whole, err = ancestors(pid); err != nil || whole {
			return line, err
		}
	}
	return line, nil
}

// ancestors is one reading; whole says that it came to the end.
func ancestors(pid int) (line []Ancestor, whole bool, err error) {
	for pid > 0 && len(line) < maxAncestors {
		st, err := ReadStat(pid)
		if err != nil {
			if line == nil {
				return nil, false, err
			}
			return line, false, nil
		}
		if n := len(line); n > 0 && st.Start > line[n-1].Start { // its number was used again
			return line, false, nil
		}
		line = append(line, Ancestor{Process{pid, st.Start}, st.Session})
		pid = st.Parent
	}
	return line, pid == 0, nil
}

// CgroupPath is the path of a process's cgroup (version 2) as its file has it; empty: it has none, or it is not known.
func CgroupPath(pid int) string {
	b, err := read(pid, "cgroup")
	if err != nil {
		return ""
	}
	for line := range bytes.Lines(b) {
		if path, ok := bytes.CutPrefix(bytes.TrimSuffix(line, []byte("\n")), []byte("0::")); ok {
			return string(path)
		}
	}
	return ""
}

// Filtered says that a process has a filter of system calls (seccomp) that we do not have, as far as is known: it can get
// rid of none, so one that has no more than we was never below one that has.
func Filtered(pid int) bool {
	if mode, err := Field(pid, "status", "Seccomp"); err == nil && mode == "0" {
		return false
	}
	theirs := Number(pid, "status", "Seccomp_filters") // 0: a kernel before 5.9 does not tell
	return theirs == 0 || theirs > Number(os.Getpid(), "status", "Seccomp_filters")
}
