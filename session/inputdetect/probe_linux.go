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
	maxFile      = 64 << 10
	maxProcesses = 1024 // descendants of the session leader
	maxThreads   = 1024 // of the group
	maxBehind    = 4    // terminals behind one relay
	maxDepth     = 3    // relays behind relays
)

// Prober examines the foreground process group of a terminal through /proc. It keeps only what it needs to detect that
// nothing ran since the last probe; its other state exists only during a probe, as thousands of idle programs may be
// probed. The zero value is ready to use.
//
// A probe covers a moment: the program may have continued before the result is read. Two equal probes with no output in
// between are stronger evidence than one.
type Prober struct {
	*work // nil between probes

	last    runTime
	aside   asideTime   // state of the threads other than the one that decided
	depth   int         // of the terminals behind others
	behind  []*Prober   // of the terminals behind this one
	relayed relayServer // of the last relay whose other side is another process
	slept   bool        // at the last probe all slept or waited: the next one notes what Still compares with
	still   stillness

	noCalls, noChannels bool // for tests: as if /proc refused
}

// work is the state of a probe in progress, with its buffers. No result may point into them.
type work struct {
	target Target
	buf    []byte // of maxFile
	mem    []byte
	name   []byte
	queue  []int
	kin    []bool // of queue: descends from a member of the group
	tids   []int

	now     runTime
	result  Result
	threads int // examined
	found   int // processes of the group

	first   finding // of the first thread of the process being examined
	masters []int   // terminals that the thread being examined relays for, by their number
	decider finding // of the first thread of the process that decided
	relays  []int   // masters of the thread that decided
	sources int     // that the thread being examined waits for by poll or select
	noted   stillness
}

// begin resets w for a probe of t.
func (w *work) begin(t Target) {
	*w = work{
		target: t, buf: w.buf, mem: w.mem[:0], name: w.name[:0], queue: w.queue[:0], kin: w.kin[:0], tids: w.tids[:0],
		masters: w.masters[:0], relays: w.relays[:0],
		now: runTime{group: t.Group}, result: Result{State: Sleeping, Timeout: -1}, noted: stillness{group: int32(t.Group)},
	}
}

// runTime identifies how far a set of threads that may not be examined has run.
type runTime struct {
	group           int
	ns, times, tids uint64
	blind           bool
}

var works = sync.Pool{New: func() any { return &work{buf: make([]byte, maxFile)} }}

// Probe returns the current state of the group.
func (p *Prober) Probe(t Target) Result {
	if t.Group <= 0 {
		return Result{Timeout: -1, Why: "no process group is in the foreground"}
	}
	w := works.Get().(*work)
	w.begin(t)
	p.work = w
	defer func() {
		p.work = nil
		works.Put(w)
	}()
	if t.Leader > 0 {
		p.walk(t.Leader)
	}
	if p.found == 0 {
		p.noted.moves = true
		p.all()
	}
	p.probeHelpers()
	if p.found > 0 {
		p.probeOtherThreads()
		p.probeRelayed()
	}
	if p.found == 0 {
		p.result = Result{Source: FromSched, Timeout: -1, Why: "process group " + strconv.Itoa(t.Group) + " has no process that can be seen"}
	}
	p.result.Idle = p.result.State == Unknown && p.found > 0 && !p.now.blind && p.now == p.last
	p.last = p.now
	p.keepStillness()
	return p.result
}

// walk examines the group's members among a process and its descendants.
func (p *Prober) walk(root int) {
	p.queue = append(p.queue[:0], root)
	p.kin = append(p.kin[:0], false)
	for i := 0; i < len(p.queue) && i < maxProcesses && !p.isDecided(); i++ {
		pr, ok := p.openProcess(p.queue[i])
		if !ok {
			continue
		}
		if p.slept {
			p.noted.note(&pr, p.buf)
		}
		member := pr.Group == p.target.Group
		// A child that left the terminal's session (su -c, setsid) may still read the terminal.
		if member || p.kin[i] && pr.TTY == 0 {
			p.examine(&pr)
		}
		p.queueChildren(&pr, member || p.kin[i])
		pr.Close()
	}
}

// queueChildren adds the children of all threads of a process, whether or not they are kin of the group.
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
				p.queue, p.kin = append(p.queue, pid), append(p.kin, kin)
			}
			b = b[end+1:]
		}
	})
}

// all examines the group's members among all processes: for groups whose parents have exited, and kernels that do not
// list children.
func (p *Prober) all() {
	p.everyProcess(func(pr *process) bool {
		if pr.Group == p.target.Group {
			p.examine(pr)
		}
		return !p.isDecided()
	})
}

// probeHelpers examines programs that read a secret from a terminal other than their own, such as pinentry, which
// gpg-agent starts. The foreground group sleeps until they end, and they are not its descendants.
func (p *Prober) probeHelpers() {
	if !p.target.NoEcho || p.found == 0 || p.result.State != Sleeping {
		return
	}
	p.everyProcess(func(pr *process) bool {
		if name := string(pr.Name); pr.TTY != p.target.TTY && (strings.HasPrefix(name, "pinentry") || strings.Contains(name, "askpass")) {
			if p.slept {
				p.noted.note(pr, p.buf)
			}
			p.examine(pr)
		}
		return !p.isDecided()
	})
}

// isDecided reports whether a reader of the terminal was found, which settles the result.
func (p *Prober) isDecided() bool { return p.result.State == Reading && p.found > 0 }

// examine judges a process.
func (p *Prober) examine(pr *process) {
	switch pr.State {
	case 'X', 'x':
		return
	case 'Z':
		if pr.Threads <= 1 {
			// Its parent must wait for it, and does so now or soon.
			p.found++
			p.take(pr, pr.pid, finding{state: Sleeping, source: FromSched, timeout: -1, why: "has ended"})
			return
		}
	case 'T', 't':
		// A stopped reader is still in its read according to /proc.
		p.found++
		p.take(pr, pr.pid, finding{state: Sleeping, source: FromSched, timeout: -1, why: "stopped"})
		return
	case 'D':
		p.found++
		p.take(pr, pr.pid, finding{state: Busy, source: FromSched, timeout: -1, why: "waits for a disk"})
		return
	}
	p.found++
	p.eachThread(pr, func(tid int) {
		if p.threads >= maxThreads || p.isDecided() {
			return
		}
		p.threads++
		t := thread{p: p, pr: pr, tid: tid, path: "task/" + strconv.Itoa(tid) + "/"}
		p.masters = p.masters[:0]
		f := t.judge()
		if tid == pr.pid {
			p.first = f
		}
		p.take(pr, tid, f)
	})
}

// eachThread calls f for each thread; a process mostly has one, whose id is known.
func (p *Prober) eachThread(pr *process, f func(tid int)) {
	if pr.Threads <= 1 {
		f(pr.pid)
		return
	}
	p.tids = p.tids[:0]
	_ = pr.Numbers("task", func(tid int) bool {
		p.tids = append(p.tids, tid)
		return len(p.tids) < maxThreads
	})
	for _, tid := range p.tids {
		f(tid)
	}
}

// weight orders states: the highest decides for the whole group. A thread that could not be examined may be the reader,
// but a running one shows that the group is at work.
var weight = [...]int{Sleeping: 0, Unknown: 1, Busy: 2, Polling: 3, Reading: 4}

// take keeps the finding with the highest weight, the first of equals, and a wait without limit before one with.
func (p *Prober) take(pr *process, tid int, f finding) {
	r := &p.result
	order := cmp.Or(cmp.Compare(weight[f.state], weight[r.State]), cmp.Compare(f.source, r.Source))
	longer := f.timeout < 0 && r.Timeout >= 0
	client := order == 0 && paned[string(pr.Name)] && !paned[r.Program] // its server reads the terminal for it
	if r.PID != 0 && (order < 0 || order == 0 && !longer && !client) {
		return
	}
	*r = Result{
		State: f.state, Source: f.source, PID: pr.pid, TID: tid, Program: string(pr.Name),
		Call: f.call, Timeout: f.timeout, Why: f.why, Waits: -1, Alone: f.alone,
	}
	p.decider, p.relays = p.first, append(p.relays[:0], p.masters...)
}

// memory returns a buffer of n bytes for another process's memory.
func (p *Prober) memory(n int) []byte {
	p.mem = slices.Grow(p.mem[:0], n)[:n]
	return p.mem
}
