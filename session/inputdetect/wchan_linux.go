package inputdetect

import (
	"bytes"
	"strings"
)

// channelRow is a kernel function in which threads sleep.
type channelRow struct {
	kind callKind
	sure bool // nothing but that sleeps there
}

// channels maps the kernel function in which a thread sleeps to its meaning. Names changed over the years; suffixes of
// the compiler (.isra.0) are cut off before.
var channels = map[string]channelRow{
	"n_tty_read":                     {readCall, true},  // until Linux 3.18
	"wait_woken":                     {readCall, false}, // n_tty_read and n_tty_write since, and TCP
	"tty_write_lock":                 {writeCall, true},
	"n_tty_write":                    {writeCall, true},
	"do_poll":                        {pollCall, false},
	"do_sys_poll":                    {pollCall, false},
	"poll_schedule_timeout":          {pollCall, false}, // poll and select
	"do_select":                      {selectCall, false},
	"core_sys_select":                {selectCall, false},
	"schedule_hrtimeout_range":       {pollCall, false},
	"schedule_hrtimeout_range_clock": {pollCall, false},
	"ep_poll":                        {epollCall, true},
	"do_epoll_wait":                  {epollCall, true},
	"do_epoll_pwait":                 {epollCall, true},
	"ep_send_events":                 {epollCall, true},
}

// channel returns the kernel function in which the thread sleeps; ok is false if it runs or may not be seen.
func (t *thread) channel() (string, bool) {
	if t.p.noChannels {
		return "", false
	}
	b, err := t.p.read(t.pr, t.path+"wchan")
	if err != nil || len(b) == 0 || string(b) == "0" {
		return "", false
	}
	b, _, _ = bytes.Cut(b, []byte{'.'})
	return string(b), true
}

// byChannel judges by the kernel function. It needs only the permission to see the process, which the same user always
// has. The awaited object is not visible, and is guessed from the process's open files.
func (t *thread) byChannel() (finding, bool) {
	ch, ok := t.channel()
	if !ok {
		if t.pr.State == 'R' {
			return finding{state: Busy, source: FromSched, timeout: -1, why: "runs"}, true
		}
		return finding{state: Unknown, timeout: -1}, false
	}
	f := finding{state: Sleeping, source: FromChannel, call: ch, timeout: -1, why: "waits for something else"}
	row := channels[ch]
	switch {
	case row.kind == readCall && t.hasTTY():
		f.state, f.why = Reading, "sleeps as readers of a terminal do"
	case row.kind == writeCall:
		f.why = "blocked writing the terminal"
	case (row.kind == pollCall || row.kind == selectCall) && t.hasTTY():
		f.state, f.why = Polling, "waits for a set of things and has the terminal open for reading"
	case row.kind == epollCall && t.epollsAny():
		f.state, f.why = Polling, "waits for the terminal, among other things"
	case ch == "io_cqring_wait" || strings.HasPrefix(ch, "io_uring"):
		f.state, f.why = Unknown, "waits by io_uring, target unknown"
	}
	return f, true
}

// hasTTY reports whether the process could read the terminal: as its standard input, or by a descriptor of /dev/tty.
func (t *thread) hasTTY() bool {
	if t.isTTY(0) {
		return true
	}
	for fd := 3; fd < 16; fd++ { // where programs open it that have another standard input
		if t.isTTY(fd) {
			return true
		}
	}
	return false
}

// epollsAny examines all epoll instances of the process.
func (t *thread) epollsAny() (found bool) {
	n := 0
	_ = t.pr.Numbers(t.path+"fd", func(fd int) bool {
		n++
		found = t.epolls(fd, 0)
		return !found && n < 256
	})
	return found
}

// addRunTime adds the thread's run time, which any user may read.
func (p *Prober) addRunTime(t *thread) {
	b, err := p.read(t.pr, t.path+"schedstat")
	ns, times, ok := parseSchedstat(b)
	if err != nil || !ok || t.pr.State == 'R' {
		p.now.blind = true
		return
	}
	p.now.ns += ns
	p.now.times += times
	p.now.tids += uint64(t.tid)
}
