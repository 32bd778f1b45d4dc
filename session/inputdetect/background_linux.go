package inputdetect

import (
	"strconv"
	"time"
)

// Background activity is what a process does while one of its threads waits for the terminal. A thread that was made to
// read keys waits there all the time, whether or not the program has a prompt.

const (
	maxAside = 64 // threads whose time is added up
	// briefPause is the longest pause of a loop that polls for a change.
	briefPause = 250 * time.Millisecond
	// loopPauses is the number of pauses that identify such a loop; fewer may be the end of a long pause.
	loopPauses = 4
	// asideShare is the fraction of processor time that no idle program uses.
	asideShare = 10
	// minMeasureTime is the least time of a measurement: in less, a single wake-up would be a large share.
	minMeasureTime = 20 * time.Millisecond
)

// asideTime is the state of a process's other threads at a probe.
type asideTime struct {
	pid, tid int // that of the thread that waits for the terminal
	at       time.Time
	ns       uint64 // the other threads' run time at that moment
	busy     bool   // they took more than an idle program's share of the time before
	waits    int64  // of the first thread
	pauses   int    // brief ones of the first thread
}

// probeOtherThreads records the thread that decided and the other threads.
func (p *Prober) probeOtherThreads() {
	r := &p.result
	if r.State != Reading && r.State != Polling {
		p.aside = asideTime{}
		return
	}
	pr, ok := p.openProcess(r.PID)
	if !ok {
		return
	}
	defer pr.Close()
	_, r.Waits = p.threadTime(&pr, r.TID)
	r.Script = (shells[r.Program] || bare[r.Program]) && p.isScript(&pr, r.Program)
	if r.TID == r.PID {
		if p.aside = (asideTime{}); r.PID != p.target.Group && pr.Group == p.target.Group && p.siblingWorks(r.PID) {
			r.Aside = Elsewhere
		}
		return
	}
	now := asideTime{pid: r.PID, tid: r.TID, at: time.Now()}
	n := 0
	p.eachThread(&pr, func(tid int) {
		if n++; tid == r.TID || n > maxAside {
			return
		}
		ns, waits := p.threadTime(&pr, tid)
		now.ns += ns
		if tid == r.PID {
			now.waits = waits
		}
	})
	r.Aside = p.judgeAside(&now)
	p.aside = now
}

// judgeAside returns the process's background activity.
func (p *Prober) judgeAside(now *asideTime) BackgroundActivity {
	last, f := &p.aside, &p.decider
	same := last.pid == now.pid && last.tid == now.tid
	if same {
		if elapsed := now.at.Sub(last.at); elapsed < minMeasureTime {
			now.at, now.ns, now.busy = last.at, last.ns, last.busy
		} else {
			now.busy = time.Duration(now.ns-last.ns) > elapsed/asideShare
		}
		now.pauses = last.pauses
	}
	switch {
	case f.sleeps >= briefPause, f.sleeps == 0 && f.state != Busy:
		now.pauses = 0
	case f.sleeps > 0 && same && now.waits != last.waits:
		now.pauses++
	}
	switch {
	case now.busy, f.state == Busy, f.sleeps >= briefPause, f.sleeps > 0 && now.pauses < loopPauses:
		return Working
	case f.sleeps > 0:
		return Elsewhere
	}
	return workCalls[f.call]
}

// siblingWorks reports whether another process of the group runs or sleeps for a time, and does not wait for the
// reader: for example, a script's reader in the background. In a pipeline the sibling is a part that works.
func (p *Prober) siblingWorks(reader int) (works bool) {
	parents := map[int]int{}
	var busy []int
	p.descendants(p.target.Leader, func(pr *process) bool {
		parents[pr.pid] = pr.Parent
		if pr.Group != p.target.Group || pr.pid == reader || pr.State == 'Z' {
			return true
		}
		t := thread{p: p, pr: pr, tid: pr.pid, path: "task/" + strconv.Itoa(pr.pid) + "/"}
		if f := t.judge(); f.state == Busy || f.sleeps > 0 {
			busy = append(busy, pr.pid)
		}
		return true
	})
	for _, pid := range busy {
		above := false // of the reader: it waits for it, in its own way
		for n, up := 0, parents[reader]; up != 0 && n < maxDepth*16; n, up = n+1, parents[up] {
			above = above || up == pid
		}
		works = works || !above
	}
	return works
}

// workCalls maps a system call of a program's first thread to the background activity while another thread waits for
// the terminal. Calls that are missing here (futex, for example) wait for that other thread, as far as is visible.
var workCalls = map[string]BackgroundActivity{
	"wait4": Working, "waitid": Working, "flock": Working, "connect": Working, "write": Working, "writev": Working,
	"sendto": Working, "sendmsg": Working, "rt_sigtimedwait": Elsewhere, timedFutex: Elsewhere,
	"read": Elsewhere, "readv": Elsewhere, "accept4": Elsewhere, "recvfrom": Elsewhere, "recvmsg": Elsewhere,
	"poll": Elsewhere, "ppoll": Elsewhere, "select": Elsewhere, "pselect6": Elsewhere,
	"epoll_wait": Elsewhere, "epoll_pwait": Elsewhere, "epoll_pwait2": Elsewhere,
}

// threadTime returns how long a thread ran and how often it waited, or -1 if unknown.
func (p *Prober) threadTime(pr *process, tid int) (ns uint64, waits int64) {
	b, err := p.read(pr, "task/"+strconv.Itoa(tid)+"/schedstat")
	ns, times, ok := parseSchedstat(b)
	if err != nil || !ok {
		return 0, -1
	}
	return ns, int64(times)
}

// isScript reports whether a shell, or another program of that name, was given its commands.
func (p *Prober) isScript(pr *process, name string) bool {
	b, err := p.read(pr, "cmdline")
	if bare[name] {
		return err == nil && runsScript(b)
	}
	return err == nil && hasCommands(b)
}
