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

// A process of a session whose executions are judged, or that is bound (wire.Bound), is served in no role (K8): at this
// socket it could start programs that are not judged, read and type into each session, and end all of them. Such a
// process may only use the daemon. A caller that descends from no keeper is in no session and acts as its user.

// refusal is the reason for refusing a caller. The zero value means that the caller is served.
type refusal struct {
	session string // "" if unknown
	why     string // reason, for the caller and the log
}

const (
	// whyBound refuses processes of restricted sessions.
	whyBound    = "it runs in a session that is judged, an agent's, or has a policy or a sandbox; use the daemon instead"
	whyOfDaemon = "the daemon runs it; use the daemon instead"
	whyFiltered = "it has a filter of system calls, as processes of judged sessions have; use the daemon instead"
)

// checkCaller returns why a caller is not served. It uses only data that the kernel has itself: a process's memory (command line,
// environment) can be a mapped file whose server hangs.
func (k *Keeper) checkCaller(c *conn) refusal {
	pid := int(c.pid)
	if pid <= 0 || pid == os.Getpid() {
		return refusal{} // the system names no callers, or it is outside of our pid namespace, where no session is
	}
	peer, err := caller.Identify(c.File(), pid)
	if err != nil {
		if errors.Is(err, caller.ErrEnded) || k.hasBound() {
			return refusal{why: err.Error()}
		}
		return refusal{} // the system has no /proc
	}
	line := peer.Below(func(pid int) bool { return pid == os.Getpid() })
	cgroup := peer.Cgroup()
	inSession := len(line) > 0 || cgroup != "" || len(peer.Below(isLongterm)) > 0
	filtered := inSession && sys.HasOwnFilter(pid)
	k.spawning.Lock() // so that each forked child is known
	defer k.spawning.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.isDaemonLocked(pid) {
		return refusal{}
	}
	if ch, ok := caller.SessionOf(line, k.leadsLocked()); ok {
		if k.isBoundLocked(ch) {
			return refusal{ch.id, whyBound}
		}
		return refusal{}
	}
	if ch := k.children[cgroup]; ch != nil && k.isBoundLocked(ch) {
		return refusal{cgroup, whyBound}
	}
	switch {
	case k.isRunByDaemonLocked(line):
		return refusal{why: whyOfDaemon}
	case filtered:
		return refusal{why: whyFiltered}
	}
	return refusal{}
}

// isLongterm reports whether a process executes our program: another keeper, most likely, where it has children.
func isLongterm(pid int) bool {
	name := func(exe string) string { return filepath.Base(strings.TrimSuffix(exe, " (deleted)")) }
	exe := name(sys.Exe(pid))
	return exe == "longterm" || exe == name(sys.Exe(os.Getpid()))
}

// isDaemonLocked reports whether a process is the daemon that this keeper started. Its PID is not reused until it is reaped.
func (k *Keeper) isDaemonLocked(pid int) bool {
	_, ours := k.waiting[pid]
	return ours && pid == k.super.pid
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

// hasBound reports whether this keeper has a session whose processes are not served.
func (k *Keeper) hasBound() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, ch := range k.children {
		if ch.bound {
			return true
		}
	}
	return len(k.listeners) > 0
}

// leadsLocked returns the sessions by the PIDs of their first processes that are not reaped.
func (k *Keeper) leadsLocked() map[int]*child {
	leads := map[int]*child{}
	for _, ch := range k.children {
		if !ch.reaped.Load() {
			leads[ch.pid] = ch
		}
	}
	return leads
}

// isBoundLocked reports whether a session's processes are refused.
func (k *Keeper) isBoundLocked(ch *child) bool {
	for r, l := range k.listeners {
		if r.id == ch.id && (l.lead == 0 || l.lead == int64(ch.pid)) {
			return true
		}
	}
	return ch.bound
}

// handleBound marks a session as restricted.
func handleBound(k *Keeper, _ *conn, m *wire.Bound, _ []*os.File) error {
	if ch, err := k.child(m.ID); err == nil {
		k.mu.Lock()
		ch.bound = true
		k.mu.Unlock()
	}
	return nil
}

// refusals queues refused callers for the daemon, which records them: the keeper opens no file. Guarded by Keeper.mu.
type refusals struct {
	waiting []*wire.Refused
	sent    time.Time // when the last batch was sent
}

const (
	// refusalInterval is the shortest time between two batches: a caller that tries in a loop does not fill the log.
	refusalInterval = time.Second
	maxRefusals     = 32 // different ones in a batch; further ones are counted with the last
)

// noteRefused counts a refused caller and reports it to the daemon.
func (k *Keeper) noteRefused(c *conn, role string, reason refusal) {
	const longest = 64 // bytes; a role is one word
	role = role[:min(len(role), longest)]
	path := sys.Exe(int(c.pid))
	k.pace.NoteActivity() // the next batch is soon due
	k.mu.Lock()
	defer k.mu.Unlock()
	r := &k.refusals
	var of *wire.Refused
	for _, m := range r.waiting {
		if m.Session == reason.session && m.Role == role && m.Why == reason.why && m.UID == int64(c.uid) {
			of = m
		}
	}
	switch {
	case of != nil:
	case len(r.waiting) == maxRefusals:
		of = r.waiting[maxRefusals-1]
	default:
		of = &wire.Refused{Session: reason.session, Role: role, Why: reason.why, UID: int64(c.uid), Time: time.Now().UnixNano()}
		r.waiting = append(r.waiting, of)
	}
	of.Count++
	of.PID, of.Path = c.pid, path
	k.reportRefusalsLocked()
}

// reportRefusals sends the waiting refusals to the daemon, if the last batch is old enough.
func (k *Keeper) reportRefusals() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.reportRefusalsLocked()
}

func (k *Keeper) reportRefusalsLocked() {
	r := &k.refusals
	if !k.super.ready || k.super.conn == nil || len(r.waiting) == 0 || time.Since(r.sent) < refusalInterval {
		return
	}
	for _, m := range r.waiting {
		k.super.conn.send(m)
	}
	r.waiting, r.sent = nil, time.Now()
}
