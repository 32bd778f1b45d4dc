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
// socket it could start programs that are not judged, read and type into each session, and end all of them. The daemon
// is such a session's only way to longterm. A caller below no keeper is as good as its user: it is in no session.

// refusal is why a caller is not served; the zero value is none.
type refusal struct {
	session string // empty: not known
	why     string
}

const (
	inBound    = "it runs in a session that is judged, an agent's, or has a policy or a sandbox; ask the daemon instead"
	ofDaemon   = "the daemon runs it; ask the daemon instead"
	isFiltered = "it has a filter of system calls, as processes of judged sessions have; ask the daemon instead"
)

// identify returns why a caller is not served. It reads nothing of a process's memory (command line, environment), which can
// be a file whose server hangs: only what the kernel tells by itself.
func (k *Keeper) identify(c *conn) refusal {
	pid := int(c.pid)
	if pid <= 0 || pid == os.Getpid() {
		return refusal{} // the system names no callers, or it is outside of our pid namespace, where no session is
	}
	who, err := caller.Identify(c.File(), pid)
	if err != nil {
		if errors.Is(err, caller.ErrEnded) || k.keepsBound() {
			return refusal{why: err.Error()}
		}
		return refusal{} // a system without /proc
	}
	line := who.Below(func(pid int) bool { return pid == os.Getpid() })
	cgroup := who.Cgroup()
	inSession := len(line) > 0 || cgroup != "" || len(who.Below(isLongterm)) > 0
	filtered := inSession && sys.Filtered(pid)
	k.spawning.Lock() // what was forked is known
	defer k.spawning.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.isDaemonLocked(pid) {
		return refusal{}
	}
	if ch, ok := caller.SessionOf(line, k.leadsLocked()); ok {
		if k.isBoundLocked(ch) {
			return refusal{ch.id, inBound}
		}
		return refusal{}
	}
	if ch := k.children[cgroup]; ch != nil && k.isBoundLocked(ch) {
		return refusal{cgroup, inBound}
	}
	switch {
	case k.isRunByDaemonLocked(line):
		return refusal{why: ofDaemon}
	case filtered:
		return refusal{why: isFiltered}
	}
	return refusal{}
}

// isLongterm reports whether a process executes our program: another keeper, most likely, where it has children.
func isLongterm(pid int) bool {
	name := func(exe string) string { return filepath.Base(strings.TrimSuffix(exe, " (deleted)")) }
	exe := name(sys.Exe(pid))
	return exe == "longterm" || exe == name(sys.Exe(os.Getpid()))
}

// isDaemonLocked reports whether a process is the daemon that this keeper started. Its number is its own until it is reaped.
func (k *Keeper) isDaemonLocked(pid int) bool {
	_, ours := k.waiting[pid]
	return ours && pid == k.super.pid
}

// isRunByDaemonLocked reports whether the daemon started a process: a hook, or a command for an agent. What another keeper
// holds, which the daemon started, is not.
func (k *Keeper) isRunByDaemonLocked(line []sys.Ancestor) bool {
	for i, p := range line {
		if i > 0 && k.isDaemonLocked(p.PID) {
			return !isLongterm(line[i-1].PID)
		}
	}
	return false
}

// keepsBound reports whether there is a session whose processes are not served.
func (k *Keeper) keepsBound() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, ch := range k.children {
		if ch.bound {
			return true
		}
	}
	return len(k.listeners) > 0
}

// leadsLocked returns the sessions by the numbers of their first processes, which are theirs until they are reaped.
func (k *Keeper) leadsLocked() map[int]*child {
	leads := map[int]*child{}
	for _, ch := range k.children {
		if !ch.reaped.Load() {
			leads[ch.pid] = ch
		}
	}
	return leads
}

// isBoundLocked reports whether no process of a session is served.
func (k *Keeper) isBoundLocked(ch *child) bool {
	for r, l := range k.listeners {
		if r.id == ch.id && (l.lead == 0 || l.lead == int64(ch.pid)) {
			return true
		}
	}
	return ch.bound
}

func handleBound(k *Keeper, _ *conn, m *wire.Bound, _ []*os.File) error {
	if ch, err := k.child(m.ID); err == nil {
		k.mu.Lock()
		ch.bound = true
		k.mu.Unlock()
	}
	return nil
}

// refusals are what the daemon is to record, as the keeper opens no file. Guarded by Keeper.mu.
type refusals struct {
	waiting []*wire.Refused
	told    time.Time
}

const (
	// Refusals are counted for so long before the daemon is told again: a caller that tries in a loop fills no log.
	refusalEvery = time.Second
	maxRefusals  = 32 // that differ; what is beyond is counted with the last
)

// refused notes a caller that is not served.
func (k *Keeper) refused(c *conn, role string, no refusal) {
	const longest = 64 // a role is a word
	role = role[:min(len(role), longest)]
	path := sys.Exe(int(c.pid))
	k.pace.Stir() // the next look is soon
	k.mu.Lock()
	defer k.mu.Unlock()
	r := &k.refusals
	var of *wire.Refused
	for _, m := range r.waiting {
		if m.Session == no.session && m.Role == role && m.Why == no.why && m.UID == int64(c.uid) {
			of = m
		}
	}
	switch {
	case of != nil:
	case len(r.waiting) == maxRefusals:
		of = r.waiting[maxRefusals-1]
	default:
		of = &wire.Refused{Session: no.session, Role: role, Why: no.why, UID: int64(c.uid), Time: time.Now().UnixNano()}
		r.waiting = append(r.waiting, of)
	}
	of.Count++
	of.PID, of.Path = c.pid, path
	k.tellRefusalsLocked()
}

// tellRefusals reports what waits to the daemon.
func (k *Keeper) tellRefusals() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tellRefusalsLocked()
}

func (k *Keeper) tellRefusalsLocked() {
	r := &k.refusals
	if !k.super.ready || k.super.conn == nil || len(r.waiting) == 0 || time.Since(r.told) < refusalEvery {
		return
	}
	for _, m := range r.waiting {
		k.super.conn.send(m)
	}
	r.waiting, r.told = nil, time.Now()
}
