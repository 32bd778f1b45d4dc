//go:build unix

package sys

import (
	"bytes"
	"os"
)

// Ancestor is a process in a line of ancestors.
type Ancestor struct {
	Process
	Session int // pid of the leader of its terminal session
}

// maxAncestors bounds a line of ancestors. A longer one is a loop from inconsistent reads.
const maxAncestors = 1024

// Ancestors returns a process and its ancestors, itself first, as far as readable. The error reports that the process
// itself does not exist. If the chain changes during the read (a parent ended), it is read again.
func Ancestors(pid int) (line []Ancestor, err error) {
	const maxAttempts = 10
	for range maxAttempts {
		var isComplete bool
		if line, isComplete, err = readAncestors(pid); err != nil || isComplete {
			return line, err
		}
	}
	return line, nil
}

// readAncestors reads once; isComplete reports whether it reached the end.
func readAncestors(pid int) (line []Ancestor, isComplete bool, err error) {
	for pid > 0 && len(line) < maxAncestors {
		st, err := ReadStat(pid)
		if err != nil {
			if line == nil {
				return nil, false, err
			}
			return line, false, nil
		}
		if n := len(line); n > 0 && st.Start > line[n-1].Start { // the pid was reused
			return line, false, nil
		}
		line = append(line, Ancestor{Process{pid, st.Start}, st.SessionLeader})
		pid = st.Parent
	}
	return line, pid == 0, nil
}

// CgroupPath returns the path of a process's cgroup (version 2), or "" if none or unknown.
func CgroupPath(pid int) string {
	b, err := readProcFile(pid, "cgroup")
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
	theirs := NumberField(pid, "status", "Seccomp_filters") // 0: a kernel before 5.9 does not report it
	return theirs == 0 || theirs > NumberField(os.Getpid(), "status", "Seccomp_filters")
}
