package inputdetect

import (
	"bytes"
	"strings"
)

// wchanInfo describes a kernel function in which threads sleep.
type wchanInfo struct {
	kind        waitKind
	isExclusive bool // only such waits sleep there
}

// wchans maps the kernel function in which a thread sleeps to its meaning. Names changed over the years; suffixes of
// the compiler (.isra.0) are removed before.
var wchans = map[string]wchanInfo{
	"n_tty_read":                     {readWait, true},  // until Linux 3.18
	"wait_woken":                     {readWait, false}, // n_tty_read and n_tty_write since, and TCP
	"tty_write_lock":                 {writeWait, true},
	"n_tty_write":                    {writeWait, true},
	"do_poll":                        {pollWait, false},
	"do_sys_poll":                    {pollWait, false},
	"poll_schedule_timeout":          {pollWait, false}, // poll and select
	"do_select":                      {selectWait, false},
	"core_sys_select":                {selectWait, false},
	"schedule_hrtimeout_range":       {pollWait, false},
	"schedule_hrtimeout_range_clock": {pollWait, false},
	"ep_poll":                        {epollWait, true},
	"do_epoll_wait":                  {epollWait, true},
	"do_epoll_pwait":                 {epollWait, true},
	"ep_send_events":                 {epollWait, true},
}

// wchan returns the kernel function in which the thread sleeps; ok is false if it runs or may not be read.
func (t *thread) wchan() (string, bool) {
	if t.prober.disableWchan {
		return "", false
	}
	b, err := t.prober.read(t.process, t.path+"wchan")
	if err != nil || len(b) == 0 || string(b) == "0" {
		return "", false
	}
	b, _, _ = bytes.Cut(b, []byte{'.'})
	return string(b), true
}

// byWchan examines the kernel function. It needs only the permission to see the process, which the same user always
// has. The awaited object is not visible, and is guessed from the process's open files.
func (t *thread) byWchan() (finding, bool) {
	ch, ok := t.wchan()
	if !ok {
		if t.process.State == 'R' {
			return finding{state: Busy, source: FromSched, timeout: -1, reason: "runs"}, true
		}
		return finding{state: Unknown, timeout: -1}, false
	}
	f := finding{state: Sleeping, source: FromWchan, syscall: ch, timeout: -1, reason: "waits for something else"}
	row := wchans[ch]
	switch {
	case row.kind == readWait && t.hasTTY():
		f.state, f.reason = Reading, "sleeps as readers of a terminal do"
	case row.kind == writeWait:
		f.reason = "blocked writing the terminal"
	case (row.kind == pollWait || row.kind == selectWait) && t.hasTTY():
		f.state, f.reason = Polling, "waits for a set of things and has the terminal open for reading"
	case row.kind == epollWait && t.anyEpollWatchesTTY():
		f.state, f.reason = Polling, "waits for the terminal, among other things"
	case ch == "io_cqring_wait" || strings.HasPrefix(ch, "io_uring"):
		f.state, f.reason = Unknown, "waits by io_uring, target unknown"
	}
	return f, true
}

// hasTTY reports whether the process could read the terminal: as its standard input, or by a descriptor of /dev/tty.
func (t *thread) hasTTY() bool {
	if t.isTTY(0) {
		return true
	}
	for fd := 3; fd < 16; fd++ { // programs with another standard input open it there
		if t.isTTY(fd) {
			return true
		}
	}
	return false
}

// anyEpollWatchesTTY reports whether any epoll instance of the process awaits the terminal.
func (t *thread) anyEpollWatchesTTY() (found bool) {
	n := 0
	_ = t.process.EachNumber(t.path+"fd", func(fd int) bool {
		n++
		found = t.epollsTTY(fd, 0)
		return !found && n < 256
	})
	return found
}

// addRunTime adds the thread's run time, which any user may read.
func (p *Prober) addRunTime(t *thread) {
	b, err := p.read(t.process, t.path+"schedstat")
	ns, times, ok := parseSchedstat(b)
	if err != nil || !ok || t.process.State == 'R' {
		p.runTime.isIncomplete = true
		return
	}
	p.runTime.ns += ns
	p.runTime.times += times
	p.runTime.tids += uint64(t.tid)
}
