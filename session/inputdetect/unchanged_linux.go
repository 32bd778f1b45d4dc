package inputdetect

import "github.com/longterm-dev/longterm/session/sys"

// Thousands of idle programs may be probed repeatedly. While no process of a program has run, its state is that of the
// last probe. One small file of each process shows whether it has run.

// maxIdleProcesses bounds the compared processes: the session's own, those in the foreground, and those between.
const maxIdleProcesses = 4

// idleProcesses identifies a state in which all processes of a program slept or waited for the terminal.
type idleProcesses struct {
	runCountSum  uint64 // sum of their run counters, which only grow
	group        int32  // foreground process group
	pids         [maxIdleProcesses]int32
	n            uint8
	incomparable bool // a process cannot be compared
}

// add adds a process, before it is examined.
func (s *idleProcesses) add(pr *process, buf []byte) {
	if s.incomparable = s.incomparable || pr.State != 'S' || pr.Threads > 1 || s.n == maxIdleProcesses; s.incomparable {
		return
	}
	ran, ok := runCounter(pr.pid, buf)
	s.incomparable = !ok
	s.pids[s.n], s.runCountSum = int32(pr.pid), s.runCountSum+ran
	s.n++
}

// runCounter returns a number that changes whenever a process of one thread starts to run.
func runCounter(pid int, buf []byte) (uint64, bool) {
	b, err := sys.ReadOnce(pid, "schedstat", buf)
	if err != nil {
		return 0, false
	}
	ns, times, ok := parseSchedstat(b)
	return ns + times, ok && times > 0 // some kernels do not count
}

// UnchangedSinceProbe reports whether the last probe's result still holds. The same group must be in the foreground. None of
// its processes, which all slept or waited for the terminal at that probe, may have run since. It never blocks, not even on
// locked memory.
func (p *Prober) UnchangedSinceProbe(terminal int) bool {
	group, err := sys.ForegroundGroup(terminal)
	return err == nil && p.isUnchanged(group)
}

// isUnchanged reports what UnchangedSinceProbe does, for a known foreground group.
func (p *Prober) isUnchanged(group int) bool {
	s := &p.idleState
	if s.n == 0 || int(s.group) != group {
		return false
	}
	var buf [128]byte
	var sum uint64
	for _, pid := range s.pids[:s.n] {
		ran, ok := runCounter(int(pid), buf[:])
		if !ok {
			return false
		}
		sum += ran
	}
	return sum == s.runCountSum
}

// saveIdleState saves the state of an idle program for UnchangedSinceProbe.
func (p *Prober) saveIdleState() {
	r := &p.result
	asleep := p.foundMembers > 0 && len(r.Relayed) == 0 && r.Background == BackgroundNone && (r.State != Unknown || r.Idle) && r.State != Busy
	if p.idleState = (idleProcesses{}); asleep && p.wasIdle && !p.newIdleState.incomparable {
		p.idleState = p.newIdleState
	}
	p.wasIdle = asleep
}
