//go:build unix

package keeper

import (
	"syscall"

	"github.com/longterm-dev/longterm/session/sys"
)

// stoppedLooks is how many looks (launch.WatchEvery) a stopped daemon has while somebody waits for it.
const stoppedLooks = 3

// rouse has a daemon go on that was stopped by a signal while executions wait for its word. Nobody's terminal stops it,
// so it was somebody's doing; who wants to look at it has a debugger, whose stop is another.
func (k *Keeper) rouse() {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := &k.super
	pid := s.pid
	if s.conn != nil {
		pid = int(s.conn.pid)
	}
	if len(k.listeners) == 0 || pid <= 0 {
		s.stopped = 0
		return
	}
	if st, err := sys.ReadStat(pid); err != nil || st.State != 'T' || !k.asksDaemonLocked() {
		s.stopped = 0
		return
	}
	if s.stopped++; s.stopped < stoppedLooks {
		return
	}
	s.stopped = 0
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		k.log.Error("the daemon is stopped, and cannot be continued", "pid", pid, "err", err)
		return
	}
	s.lastError = "the daemon had been stopped by a signal while executions waited for it, and was continued"
	k.log.Warn(s.lastError, "pid", pid)
}

// asksDaemonLocked says that somebody waits for the daemon's word.
func (k *Keeper) asksDaemonLocked() bool {
	for _, l := range k.listeners {
		if len(l.waiting) > 0 || l.taken && l.asks() {
			return true
		}
	}
	return false
}
