//go:build unix

package keeper

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/session/sys/caller"
)

// A process of a session whose executions are checked, or that is restricted (wire.Bound), is served in no role (K8). At
// this socket it could start programs that are not checked, read and type into each session, and end all of them. Such a
// process may only use the daemon. A caller that descends from no keeper is in no session and acts as its user.

// rejection is the reason for rejecting a caller. The zero value means that the caller is served.
type rejection struct {
	session string // "" if unknown
	reason  string // reason, for the caller and the log
}

const (
	// reasonRestricted refuses processes of restricted sessions.
	reasonRestricted = "it runs in a session that is judged, an agent's, or has a policy or a sandbox; use the daemon instead"
	reasonOfDaemon   = "the daemon runs it; use the daemon instead"
	reasonFiltered   = "it has a filter of system calls, as processes of judged sessions have; use the daemon instead"
)

// checkCaller returns why a caller is not served. It uses only data of the kernel: a process's memory (command line,
// environment) can be a mapped file whose server hangs.
func (k *Keeper) checkCaller(c *conn) rejection {
	pid := int(c.pid)
	if pid <= 0 || pid == os.Getpid() {
		return rejection{} // the system names no callers, or the caller is outside of our pid namespace, where no session is
	}
	peer, err := caller.Identify(c.File(), pid)
	if err != nil {
		if errors.Is(err, caller.ErrEnded) || k.hasRestrictedSession() {
			return rejection{reason: err.Error()}
		}
		return rejection{} // the system has no /proc
	}
	line := peer.AncestorsBelow(func(pid int) bool { return pid == os.Getpid() })
	cgroup := peer.CgroupSession()
	inSession := len(line) > 0 || cgroup != "" || len(peer.AncestorsBelow(isLongterm)) > 0
	filtered := inSession && sys.HasOwnFilter(pid)
	k.spawnMu.Lock() // so that each forked child is known
	defer k.spawnMu.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.isDaemonLocked(pid) {
		return rejection{}
	}
	if ch, ok := caller.SessionOf(line, k.sessionsByPIDLocked()); ok {
		if k.isRestrictedLocked(ch) {
			return rejection{ch.id, reasonRestricted}
		}
		return rejection{}
	}
	if ch := k.children[cgroup]; ch != nil && k.isRestrictedLocked(ch) {
		return rejection{cgroup, reasonRestricted}
	}
	switch {
	case k.isRunByDaemonLocked(line):
		return rejection{reason: reasonOfDaemon}
	case filtered:
		return rejection{reason: reasonFiltered}
	}
	return rejection{}
}

// isLongterm reports whether a process executes our program: another keeper, most likely, where it has children.
func isLongterm(pid int) bool {
	name := func(exe string) string { return filepath.Base(strings.TrimSuffix(exe, " (deleted)")) }
	exe := name(sys.Exe(pid))
	return exe == "longterm" || exe == name(sys.Exe(os.Getpid()))
}

// isDaemonLocked reports whether a process is the daemon that this keeper started. Its PID is not reused until it is
// reaped.
func (k *Keeper) isDaemonLocked(pid int) bool {
	_, ours := k.helpers[pid]
	return ours && pid == k.supervisor.pid
}

// isRunByDaemonLocked reports whether the daemon started a process: a hook, or a command for an agent. Programs of
// another keeper that the daemon started do not count.
func (k *Keeper) isRunByDaemonLocked(line []sys.Ancestor) bool {
	for i, p := range line {
		if i > 0 && k.isDaemonLocked(p.PID) {
			return !isLongterm(line[i-1].PID)
		}
	}
	return false
}

// hasRestrictedSession reports whether this keeper has a session whose processes are not served.
func (k *Keeper) hasRestrictedSession() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, ch := range k.children {
		if ch.restricted {
			return true
		}
	}
	return len(k.listeners) > 0
}

// sessionsByPIDLocked returns the sessions by the PIDs of their first processes that are not reaped.
func (k *Keeper) sessionsByPIDLocked() map[int]*child {
	leads := map[int]*child{}
	for _, ch := range k.children {
		if !ch.reaped.Load() {
			leads[ch.pid] = ch
		}
	}
	return leads
}

// isRestrictedLocked reports whether a session's processes are rejected.
func (k *Keeper) isRestrictedLocked(ch *child) bool {
	for r, l := range k.listeners {
		if r.id == ch.id && (l.leaderPID == 0 || l.leaderPID == int64(ch.pid)) {
			return true
		}
	}
	return ch.restricted
}

// handleRestricted marks a session as restricted.
func handleRestricted(k *Keeper, _ *conn, m *wire.Restricted, _ []*os.File) error {
	if ch, err := k.child(m.ID); err == nil {
		k.mu.Lock()
		ch.restricted = true
		k.mu.Unlock()
	}
	return nil
}

// rejections queues rejected callers for the daemon, which records them: the keeper opens no file. Guarded by Keeper.mu.
type rejections struct {
	pending []*wire.Rejected // not sent yet
	sentAt  time.Time        // when the last batch was sent
}

const (
	// rejectionInterval is the shortest time between two batches: a caller that tries in a loop does not fill the log.
	rejectionInterval = time.Second
	maxRejections     = 32 // most different ones in a batch; further ones are counted with the last
)

// noteRejected counts a rejected caller and reports it to the daemon.
func (k *Keeper) noteRejected(c *conn, role string, reason rejection) {
	const longest = 64 // bytes; a role is one word
	role = role[:min(len(role), longest)]
	path := sys.Exe(int(c.pid))
	k.poller.NoteActivity() // the next batch is due soon
	k.mu.Lock()
	defer k.mu.Unlock()
	r := &k.rejections
	var of *wire.Rejected
	for _, m := range r.pending {
		if m.Session == reason.session && m.Role == role && m.Reason == reason.reason && m.UID == int64(c.uid) {
			of = m
		}
	}
	switch {
	case of != nil:
	case len(r.pending) == maxRejections:
		of = r.pending[maxRejections-1]
	default:
		of = &wire.Rejected{Session: reason.session, Role: role, Reason: reason.reason, UID: int64(c.uid), Time: time.Now().UnixNano()}
		r.pending = append(r.pending, of)
	}
	of.Count++
	of.PID, of.Path = c.pid, path
	k.reportRejectionsLocked()
}

// reportRejections sends the queued rejections to the daemon, if the last batch is old enough.
func (k *Keeper) reportRejections() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.reportRejectionsLocked()
}

// reportRejectionsLocked works like reportRejections. The caller holds mu.
func (k *Keeper) reportRejectionsLocked() {
	r := &k.rejections
	if !k.supervisor.ready || k.supervisor.conn == nil || len(r.pending) == 0 || time.Since(r.sentAt) < rejectionInterval {
		return
	}
	for _, m := range r.pending {
		k.supervisor.conn.send(m)
	}
	r.pending, r.sentAt = nil, time.Now()
}
