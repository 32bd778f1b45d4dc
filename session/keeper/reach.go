//go:build unix

package keeper

import (
	"os"
	"syscall"

	"github.com/longterm-dev/longterm/session/sys"
)

// What runs in a session whose executions are asked about may not stop, end or look into the processes that ask and
// judge: this keeper, its daemon, and those of others. Whom a call acts on is a number, which is compared; nothing of it
// is read from the caller's memory.

// refuses says that a call is not to happen.
func (k *Keeper) refuses(n sys.Notification) bool {
	aim := n.Aim()
	if aim.PID <= 0 && !aim.Everyone || !sys.SharesPIDs(n.PID) {
		return false // in a namespace of its own it knows none of us
	}
	if aim.Everyone {
		return true
	}
	k.mu.Lock()
	own := []int{os.Getpid(), k.super.pid}
	if c := k.super.conn; c != nil {
		own = append(own, int(c.pid))
	}
	k.mu.Unlock()
	process := int(sys.Number(aim.PID, "status", "Tgid")) // a thread's number is as good
	for _, pid := range own {
		if pid <= 0 {
			continue
		}
		if group, err := syscall.Getpgid(pid); process == pid || aim.Group && err == nil && group == aim.PID {
			return true
		}
	}
	return process > 0 && isOurs(process)
}

// isOurs says that a process is a keeper or daemon, and none that was started in such a session itself.
func isOurs(pid int) bool {
	return (runsAs(pid, "keeper") || runsAs(pid, "daemon")) && !sys.Filtered(pid)
}

// runsAs reports whether a process has the command line `longterm VERB`.
func runsAs(pid int, verb string) bool {
	argv, err := sys.Cmdline(pid)
	return err == nil && len(argv) > 1 && argv[0] == "longterm" && argv[1] == verb
}

// stoppedLooks is how many looks (launch.WatchEvery) a stopped daemon has while somebody waits for it.
const stoppedLooks = 3

// rouse has a daemon go on that was stopped by a signal while executions wait for its word. Nobody's terminal stops it,
// so it was somebody's doing; who wants to look at it has a debugger, whose stop is another.
func (k *Keeper) rouse() {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, waits := &k.super, false
	for _, l := range k.listeners {
		waits = waits || len(l.waiting) > 0 || l.handed
	}
	pid := s.pid
	if s.conn != nil {
		pid = int(s.conn.pid)
	}
	if !waits || pid <= 0 {
		s.stopped = 0
		return
	}
	k.pace.Stir() // the next look is soon
	if st, err := sys.ReadStat(pid); err != nil || st.State != 'T' {
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
