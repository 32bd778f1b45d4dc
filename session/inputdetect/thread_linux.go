package inputdetect

import (
	"encoding/binary"
	"errors"
	"math"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/sys"
)

// Bounds of reads from another process, as its data is hostile.
const (
	maxPollFDs   = 1024
	maxSelectFDs = 4096
	maxNested    = 2 // epoll instances within what is waited for
)

// thread is a thread under examination.
type thread struct {
	p    *Prober
	pr   *process
	tid  int
	path string // "task/TID/"
}

// finding is the state of a thread.
type finding struct {
	state   State
	source  Source
	call    string
	timeout time.Duration
	why     string
	alone   bool          // it waits for the terminal and nothing else
	sleeps  time.Duration // the remaining time of its pause, or 0
}

// judge uses the best source that has a result.
func (t *thread) judge() finding {
	if f, ok := t.byCall(); ok {
		return f
	}
	if f, ok := t.byChannel(); ok {
		return f
	}
	t.p.addRunTime(t)
	return finding{state: Unknown, source: FromSched, timeout: -1, why: "another user's process, which may not be examined"}
}

// byCall judges by the system call; ok is false if it may not be seen.
func (t *thread) byCall() (finding, bool) {
	if t.p.noCalls {
		return finding{}, false
	}
	b, err := t.p.read(t.pr, t.path+"syscall")
	if err != nil {
		return exitedFinding(err)
	}
	c, ok := parseCall(b)
	if !ok {
		return finding{}, false
	}
	f := finding{state: Sleeping, source: FromCall, timeout: -1}
	if c.running {
		f.state, f.why = Busy, "runs"
		return f, true
	}
	row, known := callTable[c.nr]
	if !known {
		if f, ok = t.byChannel(); !ok || f.state == Sleeping {
			f = finding{state: Sleeping, source: FromCall, timeout: -1, why: "waits for something else"}
		}
		f.call = "system call " + strconv.Itoa(c.nr)
		return f, true
	}
	f.call = row.name
	if row.kind == againCall {
		// The arguments are those of the interrupted call. Of the calls that continue like this only poll can wait for
		// a terminal.
		if ch, _ := t.channel(); channels[ch].kind != pollCall {
			f.why = "waits for something else"
			return f, true
		}
		row = callRow{name: "poll", kind: pollCall, timeout: millis, arg: 2}
	}
	t.inCall(&f, row, c.args)
	return f, true
}

// inCall judges a thread that is blocked in a system call.
func (t *thread) inCall(f *finding, row callRow, args [6]uint64) {
	watches, readable := false, true
	t.p.sources = 0
	switch row.kind {
	case readCall:
		if t.isTTY(int(int32(args[0]))) {
			f.state, f.why = Reading, "blocked reading the terminal"
			return
		}
	case writeCall:
		if t.isTTY(int(int32(args[0]))) {
			f.why = "blocked writing the terminal"
			return
		}
	case pollCall:
		watches, readable = t.polls(args[0], args[1])
	case selectCall:
		watches, readable = t.selects(int(int32(args[0])), args[1])
	case epollCall:
		watches = t.epolls(int(int32(args[0])), 0)
	case ringCall:
		f.state, f.why = Unknown, "waits by io_uring, target unknown"
		return
	}
	switch {
	case watches:
		f.state, f.timeout = Polling, t.timeout(row, args[row.arg])
		f.why, f.alone = "waits for the terminal, among other things", t.p.sources == 1
	case !readable:
		*f, _ = t.byChannel()
	default:
		f.why = "waits for something else"
		f.sleeps = t.sleeps(row, args)
		if row.name == "futex" && futexWaits[args[1]&futexCommand] && args[3] != 0 {
			f.call = timedFutex
		}
	}
}

// timedFutex is a futex with a timeout: its program then does other work.
const timedFutex = "futex with a limit"

const futexCommand = 0x7f

var futexWaits = map[uint64]bool{0: true, 9: true} // FUTEX_WAIT, FUTEX_WAIT_BITSET

// sleeps returns the remaining time of a call's pause, or 0.
func (t *thread) sleeps(row callRow, args [6]uint64) time.Duration {
	clock, until := int32(unix.CLOCK_MONOTONIC), false
	switch row.pause {
	case noPause:
		return 0
	case clockPause:
		clock, until = int32(args[0]), args[1]&unix.TIMER_ABSTIME != 0
	}
	d := t.timeout(row, args[row.arg])
	if until && d >= 0 {
		var now unix.Timespec
		if unix.ClockGettime(clock, &now) != nil {
			return time.Hour // as long as not known better
		}
		d -= time.Duration(now.Nano())
	}
	return max(d, 1)
}

// isTTY reports whether a descriptor is open on the terminal, by any of its names. If it is the master of another
// terminal, isTTY records that: the thread is a relay for it.
func (t *thread) isTTY(fd int) bool {
	if fd < 0 {
		return false
	}
	dev, ok := t.pr.CharDevice(t.path + "fd/" + strconv.Itoa(fd))
	if !ok {
		return false
	}
	if dev == devMaster {
		t.p.noteMaster(t.pr, t.path, fd)
	}
	return dev == t.p.target.TTY || dev == devTTY && t.controlsTTY()
}

// devTTY is /dev/tty, the process's controlling terminal. devMaster is /dev/ptmx, the master of a pseudo-terminal.
var devTTY, devMaster = unix.Mkdev(5, 0), unix.Mkdev(5, 2)

func (t *thread) controlsTTY() bool {
	return unix.Mkdev(sys.Device(t.pr.TTY)) == t.p.target.TTY
}

// watches reports whether a descriptor's input is the terminal's, or that of an epoll instance with the terminal.
func (t *thread) watches(fd, depth int) bool {
	return t.isTTY(fd) || depth < maxNested && t.epolls(fd, depth+1)
}

// polls examines an array of struct pollfd { int fd; short events, revents; }.
func (t *thread) polls(at, n uint64) (watches, readable bool) {
	if n == 0 {
		return false, true
	}
	const size = 8
	b := t.p.memory(size * int(min(n, maxPollFDs)))
	if !t.pr.ReadMemory(at, b) {
		return false, false
	}
	for ; len(b) >= size; b = b[size:] {
		fd := int(int32(binary.NativeEndian.Uint32(b)))
		events := binary.NativeEndian.Uint16(b[4:])
		if fd >= 0 {
			t.p.sources++
		}
		if events&(unix.POLLIN|unix.EPOLLRDNORM) != 0 {
			watches = t.watches(fd, 0) || watches
		}
	}
	return watches, true
}

// selects examines the fd_set of read descriptors: longs, lowest bit first. The kernel leaves it unchanged until it
// returns.
func (t *thread) selects(n int, at uint64) (watches, readable bool) {
	if n <= 0 || at == 0 {
		return false, true
	}
	n = min(n, maxSelectFDs)
	const long = strconv.IntSize / 8
	b := t.p.memory((n + 8*long - 1) / (8 * long) * long)
	if !t.pr.ReadMemory(at, b) {
		return false, false
	}
	for fd := range n {
		word := b[fd/(8*long)*long:]
		bits := uint64(binary.NativeEndian.Uint32(word))
		if long == 8 {
			bits = binary.NativeEndian.Uint64(word)
		}
		if bits>>(fd%(8*long))&1 != 0 {
			t.p.sources++
			watches = t.watches(fd, 0) || watches
		}
	}
	return watches, true
}

// epolls examines the descriptors of an epoll instance; other files have none.
func (t *thread) epolls(fd, depth int) bool {
	if fd < 0 {
		return false
	}
	b, err := t.p.read(t.pr, t.path+"fdinfo/"+strconv.Itoa(fd))
	if err != nil {
		return false
	}
	var fds [64]int
	watched := fds[:0] // the buffer is needed for nested ones
	parseWatched(b, func(fd int, events uint32) {
		if events&(unix.EPOLLIN|unix.EPOLLRDNORM) != 0 && len(watched) < maxPollFDs {
			watched = append(watched, fd)
		}
	})
	found := false
	for _, fd := range watched {
		found = t.watches(fd, depth) || found
	}
	return found
}

// timeout returns how long a call waits at most, negative without a limit.
func (t *thread) timeout(row callRow, arg uint64) time.Duration {
	var unit time.Duration
	switch row.timeout {
	case millis:
		return max(-1, time.Duration(int32(arg))*time.Millisecond)
	case timespec:
		unit = time.Nanosecond
	case timeval:
		unit = time.Microsecond
	}
	b := t.p.memory(2 * strconv.IntSize / 8)
	if unit == 0 || arg == 0 || !t.pr.ReadMemory(arg, b) {
		return -1
	}
	sec, frac := long(b), long(b[len(b)/2:])
	if sec < 0 || frac < 0 || sec > math.MaxInt64/2/int64(time.Second) || frac > int64(time.Second) {
		return -1
	}
	return time.Duration(sec)*time.Second + time.Duration(frac)*unit
}

// long reads a C long of this machine's size.
func long(b []byte) int64 {
	if strconv.IntSize == 64 {
		return int64(binary.NativeEndian.Uint64(b))
	}
	return int64(int32(binary.NativeEndian.Uint32(b)))
}

// exitedFinding turns a failed read into a finding: a thread that has exited waits for nothing.
func exitedFinding(err error) (finding, bool) {
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH) {
		return finding{state: Sleeping, source: FromCall, timeout: -1, why: "ended meanwhile"}, true
	}
	return finding{}, false
}
