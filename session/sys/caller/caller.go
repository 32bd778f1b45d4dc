//go:build unix

// Package caller finds the session of the process at the other end of a Unix socket. The keeper and the daemon identify
// their callers by it, each with its own rules for what a caller may do.
//
// peer credentials → process → ancestors → first process, or terminal session, of a session
// its parents have exited → cgroup, mark in its environment (sys.MarkOf), filter of system calls (sys.HasOwnFilter)
//
// A process can change its mark and, where the user may write to the cgroup tree, its cgroup. It can change neither its
// ancestors nor its filters.
package caller

import (
	"errors"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/longterm-dev/longterm/session/sys"
)

// ErrEnded reports a caller that exited before it was identified. No answer is needed.
var ErrEnded = errors.New("it ended before it was identified")

// Caller is a process at the other end of a socket.
type Caller struct {
	PID       int
	Ancestors []sys.Ancestor // the caller first
}

// Identify reads the ancestors of a process that connected; conn is nil if the connection is not a Unix socket. It returns
// ErrEnded if another process may have its PID now, and another error if the ancestors cannot be read.
func Identify(conn syscall.Conn, pid int) (Caller, error) {
	line, err := sys.Ancestors(pid)
	if conn != nil && !sys.IsPeerAlive(conn) {
		err = ErrEnded
	}
	return Caller{pid, line}, err
}

// AncestorsBelow returns the caller and its ancestors up to the nearest ancestor, exclusive, for which is returns true. It
// returns nil without such an ancestor.
func (c Caller) AncestorsBelow(is func(pid int) bool) []sys.Ancestor {
	for i, p := range c.Ancestors {
		if i > 0 && is(p.PID) {
			return c.Ancestors[:i]
		}
	}
	return nil
}

// SessionOf returns the session whose first process, or terminal session, is among the ancestors. byLeader maps the PIDs of
// first processes to sessions.
func SessionOf[S any](line []sys.Ancestor, byLeader map[int]S) (s S, found bool) {
	for _, p := range slices.Backward(line) {
		for _, pid := range []int{p.PID, p.Session} {
			if s, found = byLeader[pid]; found {
				return s, true
			}
		}
	}
	return s, false
}

// CgroupSession returns the ID of the session whose keeper created the caller's cgroup, or "".
func (c Caller) CgroupSession() string { return sessionIDOfCgroup(sys.CgroupPath(c.PID)) }

// sessionIDOfCgroup returns the session of a cgroup that a keeper made, by the path of the group or of one in it. A later run
// of a session has a number in the group's name.
func sessionIDOfCgroup(group string) string {
	for ; len(group) > 1; group = path.Dir(group) {
		if parent := path.Base(path.Dir(group)); strings.HasPrefix(parent, "longterm-") && parent != "longterm-keeper" {
			id, _, _ := strings.Cut(path.Base(group), ".")
			return id
		}
	}
	return ""
}
