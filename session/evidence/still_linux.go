package evidence

import "github.com/longterm-dev/longterm/session/sys"

// A program at rest is looked at again and again, and there may be thousands. While nothing of it has run it does what it
// did at the last probe, and whether it has is told by one small file of each of its processes.

// maxStill is how many processes are compared so: the session's own, what is in the foreground, and what is between.
const maxStill = 4

// stillness tells of programs that all slept, or waited for the terminal, whether any of them has run since.
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

// ranSoFar changes whenever a process of one thread begins to run.
func ranSoFar(pid int, buf []byte) (uint64, bool) {
	b, err := sys.ReadOnce(pid, "schedstat", buf)
	if err != nil {
		return 0, false
	}
	ns, times, ok := parseSchedstat(b)
	return ns + times, ok && times > 0 // a kernel may count nothing
}

// Still reports that what the last probe found holds, as the same group is in a terminal's foreground and nothing has
// run of programs that slept then, or waited for the terminal and did nothing besides. It waits for nothing, not even
// for memory that is locked.
func (p *Prober) Still(terminal int) bool {
	group, err := sys.ForegroundGroup(terminal)
	return err == nil && p.stillIs(group)
}

func (p *Prober) stillIs(group int) bool {
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

// rests keeps for Still what a probe noted on its way.
func (p *Prober) rests() {
	r := &p.result
	asleep := p.found > 0 && len(r.Behind) == 0 && r.Aside == Nothing && (r.State != Unknown || r.Idle) && r.State != Busy
	if p.still = (stillness{}); asleep && p.slept && !p.noted.moves {
		p.still = p.noted
	}
	p.slept = asleep
}
