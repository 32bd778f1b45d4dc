package inputdetect

import "github.com/longterm-dev/longterm/session/sys"

// Thousands of idle programs may be probed repeatedly. While no process of a program has run, its state is that of the
// last probe. One small file of each process shows whether it has run.

// maxStill bounds the compared processes: the session's own, those in the foreground, and those between.
const maxStill = 4

// stillness identifies a state in which all processes of a program slept or waited for the terminal.
type stillness struct {
	ran   uint64 // nanoseconds and times of them all: both only grow
	group int32  // the foreground's
	pids  [maxStill]int32
	n     uint8
	moves bool // one of them cannot be compared
}

// note adds a process, before it is examined.
func (s *stillness) note(pr *process, buf []byte) {
	if s.moves = s.moves || pr.State != 'S' || pr.Threads > 1 || s.n == maxStill; s.moves {
		return
	}
	ran, ok := ranSoFar(pr.pid, buf)
	s.moves = !ok
	s.pids[s.n], s.ran = int32(pr.pid), s.ran+ran
	s.n++
}

// ranSoFar returns a number that changes whenever a process of one thread starts to run.
func ranSoFar(pid int, buf []byte) (uint64, bool) {
	b, err := sys.ReadOnce(pid, "schedstat", buf)
	if err != nil {
		return 0, false
	}
	ns, times, ok := parseSchedstat(b)
	return ns + times, ok && times > 0 // a kernel may count nothing
}

// UnchangedSinceProbe reports whether the last probe's result still holds: the same group is in the terminal's
// foreground, and no process has run of a program that only slept or waited for the terminal. It never blocks, not even
// on locked memory.
func (p *Prober) UnchangedSinceProbe(terminal int) bool {
	group, err := sys.ForegroundGroup(terminal)
	return err == nil && p.isUnchanged(group)
}

func (p *Prober) isUnchanged(group int) bool {
	s := &p.still
	if s.n == 0 || int(s.group) != group {
		return false
	}
	var buf [128]byte
	var sum uint64
	for _, pid := range s.pids[:s.n] {
		ran, ok := ranSoFar(int(pid), buf[:])
		if !ok {
			return false
		}
		sum += ran
	}
	return sum == s.ran
}

// keepStillness saves the state of an idle program for UnchangedSinceProbe.
func (p *Prober) keepStillness() {
	r := &p.result
	asleep := p.found > 0 && len(r.Behind) == 0 && r.Aside == Nothing && (r.State != Unknown || r.Idle) && r.State != Busy
	if p.still = (stillness{}); asleep && p.slept && !p.noted.moves {
		p.still = p.noted
	}
	p.slept = asleep
}
