//go:build unix

// Package caller finds the session that the process at the other end of a Unix socket runs in. The keeper and the daemon
// identify their callers by it, each with its own rules for what a caller may do.
//
//	peer credentials → process → line of descent → first process, or terminal session, of a session
//	its parents have ended → cgroup, mark in its environment (sys.MarkOf), filter of system calls (sys.Filtered)
//
// A process can change its mark and, where the user may write to the cgroup tree, its cgroup. It can change neither its
// line of descent nor its filters.
package caller

import (
	"errors"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/longterm-dev/longterm/session/sys"
)

// ErrEnded reports a caller that ended before it was identified. It waits for no answer.
var ErrEnded = errors.New("it ended before it was identified")

// Caller is a process at the other end of a socket.
type Caller struct {
	PID  int
	Line []sys.Ancestor // itself first, then its ancestors
}

// Identify reads the line of descent of a process that connected; conn is nil where the connection is no Unix socket. It
// returns ErrEnded if another process may have its PID now, and another error if the line cannot be read.
func Identify(conn syscall.Conn, pid int) (Caller, error) {
	line, err := sys.Ancestors(pid)
	if conn != nil && !sys.PeerLives(conn) {
		err = ErrEnded
	}
	return Caller{pid, line}, err
}

// Below returns the processes between the caller and its nearest ancestor for which is reports true, itself first. It
// returns nil if no ancestor is such a process.
func (c Caller) Below(is func(pid int) bool) []sys.Ancestor {
	for i, p := range c.Line {
		if i > 0 && is(p.PID) {
			return c.Line[:i]
		}
	}
	return nil
}

// SessionOf returns the session whose first process, or terminal session, is in a line of descent. leads has the sessions by
// the PIDs of their first processes.
func SessionOf[S any](line []sys.Ancestor, leads map[int]S) (s S, found bool) {
	for _, p := range slices.Backward(line) {
		for _, pid := range []int{p.PID, p.Session} {
			if s, found = leads[pid]; found {
				return s, true
			}
		}
	}
	return s, false
}

// Cgroup returns the id of the session that a keeper made the caller's cgroup for, or "" if none did.
func (c Caller) Cgroup() string { return sessionOfCgroup(sys.CgroupPath(c.PID)) }

// sessionOfCgroup returns the session that a keeper made a cgroup for, by the path of the group or of one in it. A later
// run of a session has a number in the group's name.
func sessionOfCgroup(group string) string {
	for ; len(group) > 1; group = path.Dir(group) {
		if parent := path.Base(path.Dir(group)); strings.HasPrefix(parent, "longterm-") && parent != "longterm-keeper" {
			id, _, _ := strings.Cut(path.Base(group), ".")
			return id
		}
	}
	return ""
}
