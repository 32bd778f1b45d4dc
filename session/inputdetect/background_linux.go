package inputdetect

import (
	"strconv"
	"time"
)

// Background activity is what a process does while one of its threads waits for the terminal. A thread that was made to
// read keys waits there all the time, whether or not the program has a prompt.

const (
	maxOtherThreads = 64 // threads whose run time is summed
	// briefPause is the longest pause of a loop that polls for a change.
	briefPause = 250 * time.Millisecond
	// loopPauses is the number of brief pauses that identify such a loop; fewer may be the end of a long pause.
	loopPauses = 4
	// idleShare is the divisor of the elapsed time: an idle program uses less processor time than the quotient.
	idleShare = 10
	// minMeasureTime is the least time of a measurement: within less, a single wake-up would be a large share.
	minMeasureTime = 20 * time.Millisecond
)

// otherThreadTimes is the state of a process's other threads at a probe.
type otherThreadTimes struct {
	pid, tid    int       // thread that waits for the terminal
	at          time.Time // time of the probe
	ns          uint64    // run time of the other threads
	isBusy      bool      // they used more processor time than an idle program since the probe before
	waits       int64     // of the first thread
	briefPauses int       // of the first thread
}

// probeOtherThreads examines the other threads of the process that determined the result.
func (p *Prober) probeOtherThreads() {
	r := &p.result
	if r.State != Reading && r.State != Polling {
		p.otherThreads = otherThreadTimes{}
		return
	}
	pr, ok := p.openProcess(r.PID)
	if !ok {
		return
	}
	defer pr.Close()
	_, r.WaitCount = p.threadTime(&pr, r.TID)
	r.RunsScript = (shells[r.Program] || ambiguousInterpreters[r.Program]) && p.isScript(&pr, r.Program)
	if r.TID == r.PID {
		if p.otherThreads = (otherThreadTimes{}); r.PID != p.target.Group && pr.Group == p.target.Group && p.hasWorkingSibling(r.PID) {
			r.Background = BackgroundWaiting
		}
		return
	}
	now := otherThreadTimes{pid: r.PID, tid: r.TID, at: time.Now()}
	n := 0
	p.eachThread(&pr, func(tid int) {
		if n++; tid == r.TID || n > maxOtherThreads {
			return
		}
		ns, waits := p.threadTime(&pr, tid)
		now.ns += ns
		if tid == r.PID {
			now.waits = waits
		}
	})
	r.Background = p.backgroundActivity(&now)
	p.otherThreads = now
}

// backgroundActivity returns the process's background activity.
func (p *Prober) backgroundActivity(now *otherThreadTimes) BackgroundActivity {
	last, f := &p.otherThreads, &p.deciderFirstThread
	same := last.pid == now.pid && last.tid == now.tid
	if same {
		if elapsed := now.at.Sub(last.at); elapsed < minMeasureTime {
			now.at, now.ns, now.isBusy = last.at, last.ns, last.isBusy
		} else {
			now.isBusy = time.Duration(now.ns-last.ns) > elapsed/idleShare
		}
		now.briefPauses = last.briefPauses
	}
	switch {
	case f.pause >= briefPause, f.pause == 0 && f.state != Busy:
		now.briefPauses = 0
	case f.pause > 0 && same && now.waits != last.waits:
		now.briefPauses++
	}
	switch {
	case now.isBusy, f.state == Busy, f.pause >= briefPause, f.pause > 0 && now.briefPauses < loopPauses:
		return BackgroundWorking
	case f.pause > 0:
		return BackgroundWaiting
	}
	return backgroundOfSyscall[f.syscall]
}

// hasWorkingSibling reports whether another process of the group runs or sleeps for a time, and does not wait for the
// reader: for example, a script's reader in the background, or another part of a pipeline.
func (p *Prober) hasWorkingSibling(reader int) (works bool) {
	parents := map[int]int{}
	var busy []int
	p.eachDescendant(p.target.Leader, func(pr *process) bool {
		parents[pr.pid] = pr.Parent
		if pr.Group != p.target.Group || pr.pid == reader || pr.State == 'Z' {
			return true
		}
		t := thread{prober: p, process: pr, tid: pr.pid, path: "task/" + strconv.Itoa(pr.pid) + "/"}
		if f := t.examine(); f.state == Busy || f.pause > 0 {
			busy = append(busy, pr.pid)
		}
		return true
	})
	for _, pid := range busy {
		above := false // an ancestor of the reader waits for it, perhaps by polling
		for n, up := 0, parents[reader]; up != 0 && n < maxRelayDepth*16; n, up = n+1, parents[up] {
			above = above || up == pid
		}
		works = works || !above
	}
	return works
}

// backgroundOfSyscall maps a system call of a program's first thread to the background activity while another thread
// waits for the terminal. Missing calls (futex, for example) wait for that other thread, as far as is visible.
var backgroundOfSyscall = map[string]BackgroundActivity{
	"wait4": BackgroundWorking, "waitid": BackgroundWorking, "flock": BackgroundWorking, "connect": BackgroundWorking, "write": BackgroundWorking, "writev": BackgroundWorking,
	"sendto": BackgroundWorking, "sendmsg": BackgroundWorking, "rt_sigtimedwait": BackgroundWaiting, timedFutex: BackgroundWaiting,
	"read": BackgroundWaiting, "readv": BackgroundWaiting, "accept4": BackgroundWaiting, "recvfrom": BackgroundWaiting, "recvmsg": BackgroundWaiting,
	"poll": BackgroundWaiting, "ppoll": BackgroundWaiting, "select": BackgroundWaiting, "pselect6": BackgroundWaiting,
	"epoll_wait": BackgroundWaiting, "epoll_pwait": BackgroundWaiting, "epoll_pwait2": BackgroundWaiting,
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

// isScript reports whether a shell or interpreter was given its commands.
func (p *Prober) isScript(pr *process, name string) bool {
	b, err := p.read(pr, "cmdline")
	if ambiguousInterpreters[name] {
		return err == nil && runsScript(b)
	}
	return err == nil && hasCommands(b)
}
