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

// Ancestors returns a process and its ancestors, itself first, as far as readable. The error reports that the process
// itself does not exist. If the chain changes during the read (a parent ended), it is read again.
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

// ancestors reads once; whole reports whether it reached the end.
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

// CgroupPath returns the path of a process's cgroup (version 2), or "" if none or unknown.
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

// HasOwnFilter reports whether a process has a system call filter (seccomp) that this process lacks, as far as known.
// Filters cannot be removed, so a process with no more filters than this one was never below a filtered one.
func HasOwnFilter(pid int) bool {
	if mode, err := Field(pid, "status", "Seccomp"); err == nil && mode == "0" {
		return false
	}
	theirs := Number(pid, "status", "Seccomp_filters") // 0: a kernel before 5.9 does not report it
	return theirs == 0 || theirs > Number(os.Getpid(), "status", "Seccomp_filters")
}
