package inputdetect

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Bounds of one probe. Beyond them the result covers the examined part.
const (
	maxFileBytes  = 64 << 10 // read of a file in /proc
	maxProcesses  = 1024     // descendants of the session leader
	maxThreads    = 1024     // of the group
	maxRelayed    = 4        // terminals behind one relay
	maxRelayDepth = 3        // relays behind relays
)

// Prober examines the foreground process group of a terminal through /proc. It stores only what it needs to detect that
// nothing ran since the last probe. Its other state exists only during a probe, as thousands of idle programs may be
// probed. The zero value is ready to use.
//
// A probe covers a moment: the program may have continued before the result is read. Two equal probes without output in
// between are stronger evidence than one.
type Prober struct {
	*probeState // nil between probes

	lastRunTime    groupRunTime     // of the last probe
	otherThreads   otherThreadTimes // of the process that waited at the last probe
	depth          int              // number of relays above
	relayedProbers []*Prober        // of the terminals behind this one
	lastServer     relayServer      // of the last relay whose other side is another process
	wasIdle        bool             // the last probe found all processes idle: the next one records idleState
	idleState      idleProcesses    // compared by UnchangedSinceProbe

	disableSyscall, disableWchan bool // for tests: as if /proc denied these files
}

// probeState is the state of a probe in progress, with its buffers. Results must not refer to them.
type probeState struct {
	target      Target
	buf         []byte // maxFileBytes long
	mem         []byte // memory read from a process
	name        []byte
	queue       []int  // processes to examine
	inGroupTree []bool // by index in queue: the process descends from a member of the group
	tids        []int

	runTime      groupRunTime
	result       Result
	threads      int // threads examined so far
	foundMembers int // processes of the group found so far

	firstThread        finding       // finding of the first thread of the examined process
	masters            []int         // numbers of the terminals that the examined thread relays
	deciderFirstThread finding       // finding of the first thread of the process that determined the result
	deciderMasters     []int         // masters of the thread that determined the result
	awaitedFDs         int           // descriptors that the examined thread awaits by poll or select
	newIdleState       idleProcesses // processes of this probe
}

// reset prepares s for a probe of t.
func (w *probeState) reset(t Target) {
	*w = probeState{
		target: t, buf: w.buf, mem: w.mem[:0], name: w.name[:0], queue: w.queue[:0], inGroupTree: w.inGroupTree[:0], tids: w.tids[:0],
		masters: w.masters[:0], deciderMasters: w.deciderMasters[:0],
		runTime: groupRunTime{group: t.Group}, result: Result{State: Sleeping, Timeout: -1}, newIdleState: idleProcesses{group: int32(t.Group)},
	}
}

// groupRunTime sums the run times of threads that may not be examined otherwise.
type groupRunTime struct {
	group           int
	ns, times, tids uint64
	isIncomplete    bool // a thread ran, or its time is unknown
}

// probeStates has unused states with their buffers.
var probeStates = sync.Pool{New: func() any { return &probeState{buf: make([]byte, maxFileBytes)} }}

// Probe returns the current state of the group.
func (p *Prober) Probe(t Target) Result {
	if t.Group <= 0 {
		return Result{Timeout: -1, Reason: "no process group is in the foreground"}
	}
	w := probeStates.Get().(*probeState)
	w.reset(t)
	p.probeState = w
	defer func() {
		p.probeState = nil
		probeStates.Put(w)
	}()
	if t.Leader > 0 {
		p.examineDescendants(t.Leader)
	}
	if p.foundMembers == 0 {
		p.newIdleState.incomparable = true
		p.examineAll()
	}
	p.probeHelpers()
	if p.foundMembers > 0 {
		p.probeOtherThreads()
		p.probeRelayed()
	}
	if p.foundMembers == 0 {
		p.result = Result{Source: FromSched, Timeout: -1, Reason: "process group " + strconv.Itoa(t.Group) + " has no process that can be seen"}
	}
	p.result.Idle = p.result.State == Unknown && p.foundMembers > 0 && !p.runTime.isIncomplete && p.runTime == p.lastRunTime
	p.lastRunTime = p.runTime
	p.saveIdleState()
	return p.result
}

// examineDescendants examines the group's members among a process and its descendants.
func (p *Prober) examineDescendants(root int) {
	p.queue = append(p.queue[:0], root)
	p.inGroupTree = append(p.inGroupTree[:0], false)
	for i := 0; i < len(p.queue) && i < maxProcesses && !p.isDecided(); i++ {
		pr, ok := p.openProcess(p.queue[i])
		if !ok {
			continue
		}
		if p.wasIdle {
			p.newIdleState.add(&pr, p.buf)
		}
		member := pr.Group == p.target.Group
		// A child that left the terminal's session (su -c, setsid) may still read the terminal.
		if member || p.inGroupTree[i] && pr.TTY == 0 {
			p.examine(&pr)
		}
		p.queueChildren(&pr, member || p.inGroupTree[i])
		pr.Close()
	}
}

// queueChildren queues the children of all threads of a process. kin reports whether they descend from a member of the group.
func (p *Prober) queueChildren(pr *process, kin bool) {
	p.eachThread(pr, func(tid int) {
		b, err := p.read(pr, "task/"+strconv.Itoa(tid)+"/children")
		if err != nil {
			return
		}
		for len(b) > 0 && len(p.queue) < maxProcesses {
			end := slices.Index(b, ' ')
			if end < 0 {
				return // cut off
			}
			if pid, err := strconv.Atoi(string(b[:end])); err == nil {
				p.queue, p.inGroupTree = append(p.queue, pid), append(p.inGroupTree, kin)
			}
			b = b[end+1:]
		}
	})
}

// examineAll examines the group's members among all processes: for groups whose parents have exited, and kernels that
// do not list children.
func (p *Prober) examineAll() {
	p.eachProcess(func(pr *process) bool {
		if pr.Group == p.target.Group {
			p.examine(pr)
		}
		return !p.isDecided()
	})
}

// probeHelpers examines programs that read a secret from a terminal other than their own, such as pinentry, which
// gpg-agent starts. The foreground group sleeps until they end, and they are not its descendants.
func (p *Prober) probeHelpers() {
	if !p.target.NoEcho || p.foundMembers == 0 || p.result.State != Sleeping {
		return
	}
	p.eachProcess(func(pr *process) bool {
		if name := string(pr.Name); pr.TTY != p.target.TTY && (strings.HasPrefix(name, "pinentry") || strings.Contains(name, "askpass")) {
			if p.wasIdle {
				p.newIdleState.add(pr, p.buf)
			}
			p.examine(pr)
		}
		return !p.isDecided()
	})
}

// isDecided reports whether a reader of the terminal was found, which settles the result.
func (p *Prober) isDecided() bool { return p.result.State == Reading && p.foundMembers > 0 }

// examine examines the threads of a process and considers their findings.
func (p *Prober) examine(pr *process) {
	switch pr.State {
	case 'X', 'x':
		return
	case 'Z':
		if pr.Threads <= 1 {
			// Only its parent's wait remains, which comes soon.
			p.foundMembers++
			p.considerFinding(pr, pr.pid, finding{state: Sleeping, source: FromSched, timeout: -1, reason: "has ended"})
			return
		}
	case 'T', 't':
		// A stopped reader is still in its read according to /proc.
		p.foundMembers++
		p.considerFinding(pr, pr.pid, finding{state: Sleeping, source: FromSched, timeout: -1, reason: "stopped"})
		return
	case 'D':
		p.foundMembers++
		p.considerFinding(pr, pr.pid, finding{state: Busy, source: FromSched, timeout: -1, reason: "waits for a disk"})
		return
	}
	p.foundMembers++
	p.eachThread(pr, func(tid int) {
		if p.threads >= maxThreads || p.isDecided() {
			return
		}
		p.threads++
		t := thread{prober: p, process: pr, tid: tid, path: "task/" + strconv.Itoa(tid) + "/"}
		p.masters = p.masters[:0]
		f := t.examine()
		if tid == pr.pid {
			p.firstThread = f
		}
		p.considerFinding(pr, tid, f)
	})
}

// eachThread calls f for each thread. Most processes have one, whose id is the pid.
func (p *Prober) eachThread(pr *process, f func(tid int)) {
	if pr.Threads <= 1 {
		f(pr.pid)
		return
	}
	p.tids = p.tids[:0]
	_ = pr.EachNumber("task", func(tid int) bool {
		p.tids = append(p.tids, tid)
		return len(p.tids) < maxThreads
	})
	for _, tid := range p.tids {
		f(tid)
	}
}

// statePriority orders states: the highest determines the result of the group. A thread that could not be examined may
// be the reader, but a running one shows that the group works.
var statePriority = [...]int{Sleeping: 0, Unknown: 1, Busy: 2, Polling: 3, Reading: 4}

// considerFinding makes a finding the result if it has a higher priority. Of equal ones the first wins, and a wait
// without a timeout wins over one with.
func (p *Prober) considerFinding(pr *process, tid int, f finding) {
	r := &p.result
	order := cmp.Or(cmp.Compare(statePriority[f.state], statePriority[r.State]), cmp.Compare(f.source, r.Source))
	longer := f.timeout < 0 && r.Timeout >= 0
	client := order == 0 && multiplexers[string(pr.Name)] && !multiplexers[r.Program] // its server reads the terminal
	if r.PID != 0 && (order < 0 || order == 0 && !longer && !client) {
		return
	}
	*r = Result{
		State: f.state, Source: f.source, PID: pr.pid, TID: tid, Program: string(pr.Name),
		Syscall: f.syscall, Timeout: f.timeout, Reason: f.reason, WaitCount: -1, OnlyTerminal: f.onlyTerminal,
	}
	p.deciderFirstThread, p.deciderMasters = p.firstThread, append(p.deciderMasters[:0], p.masters...)
}

// memoryBuffer returns a buffer of n bytes for another process's memory.
func (p *Prober) memoryBuffer(n int) []byte {
	p.mem = slices.Grow(p.mem[:0], n)[:n]
	return p.mem
}
