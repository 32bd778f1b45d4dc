//go:build unix

package keeper

import (
	"os"
	"syscall"

	"github.com/longterm-dev/longterm/session/sys"
)

// A session with execution checks must not stop, end or inspect the checking processes: this keeper, its daemon, and
// those of others. A call names its target by number, which is compared. Nothing is read from the caller's memory.

// rejectsSignalCall reports whether to reject a call that would act on longterm's own processes.
func (k *Keeper) rejectsSignalCall(n sys.Notification) bool {
	aim := n.Target()
	if aim.PID <= 0 && !aim.IsAll || !sys.SharesPIDNamespace(n.PID) {
		return false // in another PID namespace it cannot name these processes
	}
	if aim.IsAll {
		return true
	}
	k.mu.Lock()
	own := []int{os.Getpid(), k.supervisor.pid}
	if c := k.supervisor.conn; c != nil {
		own = append(own, int(c.pid))
	}
	k.mu.Unlock()
	process := int(sys.NumberField(aim.PID, "status", "Tgid")) // a thread's number identifies its process
	for _, pid := range own {
		if pid <= 0 {
			continue
		}
		if group, err := syscall.Getpgid(pid); process == pid || aim.IsGroup && err == nil && group == aim.PID {
			return true
		}
	}
	return process > 0 && isLongtermProcess(process)
}

// isLongtermProcess reports whether a process is a keeper or daemon that was not started in a restricted session.
func isLongtermProcess(pid int) bool {
	return (runsAs(pid, "keeper") || runsAs(pid, "daemon")) && !sys.HasOwnFilter(pid)
}

// runsAs reports whether a process has the command line `longterm VERB`.
func runsAs(pid int, verb string) bool {
	argv, err := sys.Cmdline(pid)
	return err == nil && len(argv) > 1 && argv[0] == "longterm" && argv[1] == verb
}

// maxStoppedChecks is how many checks (launch.WatchInterval) a stopped daemon may miss while a process waits for it.
const maxStoppedChecks = 3

// resumeStopped resumes a daemon that was stopped by a signal while executions wait for it. It has no terminal, so a user
// or a program stopped it; a debugger stops it in another way.
func (k *Keeper) resumeStopped() {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, waits := &k.supervisor, false
	for _, l := range k.listeners {
		waits = waits || len(l.waiting) > 0 || l.daemonReceives
	}
	pid := s.pid
	if s.conn != nil {
		pid = int(s.conn.pid)
	}
	if !waits || pid <= 0 {
		s.stoppedChecks = 0
		return
	}
	k.poller.NoteActivity() // the next check is soon
	if st, err := sys.ReadStat(pid); err != nil || st.State != 'T' {
		s.stoppedChecks = 0
		return
	}
	if s.stoppedChecks++; s.stoppedChecks < maxStoppedChecks {
		return
	}
	s.stoppedChecks = 0
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		k.log.Error("the daemon is stopped, and cannot be continued", "pid", pid, "err", err)
		return
	}
	s.lastError = "the daemon had been stopped by a signal while executions waited for it, and was continued"
	k.log.Warn(s.lastError, "pid", pid)
}
