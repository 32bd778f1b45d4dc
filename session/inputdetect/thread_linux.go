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

// Bounds of reads from another process, whose data is untrusted.
const (
	maxPollFDs   = 1024
	maxSelectFDs = 4096
	maxNested    = 2 // epoll instances within epoll instances
)

// thread is a thread being examined.
type thread struct {
	prober  *Prober
	process *process
	tid     int
	path    string // "task/TID/", within the process's directory
}

// finding is the state of a thread.
type finding struct {
	state        State
	source       Source
	syscall      string
	timeout      time.Duration
	reason       string
	onlyTerminal bool          // it waits for nothing but the terminal
	pause        time.Duration // remaining time of its sleep; 0: it does not sleep for a time
}

// examine returns the finding of the best available source.
func (t *thread) examine() finding {
	if f, ok := t.bySyscall(); ok {
		return f
	}
	if f, ok := t.byWchan(); ok {
		return f
	}
	t.prober.addRunTime(t)
	return finding{state: Unknown, source: FromSched, timeout: -1, reason: "another user's process, which may not be examined"}
}

// bySyscall examines the system call; ok is false if it may not be read.
func (t *thread) bySyscall() (finding, bool) {
	if t.prober.disableSyscall {
		return finding{}, false
	}
	b, err := t.prober.read(t.process, t.path+"syscall")
	if err != nil {
		return exitedFinding(err)
	}
	c, ok := parseSyscall(b)
	if !ok {
		return finding{}, false
	}
	f := finding{state: Sleeping, source: FromSyscall, timeout: -1}
	if c.isRunning {
		f.state, f.reason = Busy, "runs"
		return f, true
	}
	row, known := syscalls[c.number]
	if !known {
		if f, ok = t.byWchan(); !ok || f.state == Sleeping {
			f = finding{state: Sleeping, source: FromSyscall, timeout: -1, reason: "waits for something else"}
		}
		f.syscall = "system call " + strconv.Itoa(c.number)
		return f, true
	}
	f.syscall = row.name
	if row.kind == restartedWait {
		// The arguments are those of the interrupted call. Of the calls that continue like this only poll can wait for
		// a terminal.
		if ch, _ := t.wchan(); wchans[ch].kind != pollWait {
			f.reason = "waits for something else"
			return f, true
		}
		row = syscallInfo{name: "poll", kind: pollWait, timeout: timeoutMillis, arg: 2}
	}
	t.completeSyscallFinding(&f, row, c.args)
	return f, true
}

// completeSyscallFinding completes the finding of a thread that is blocked in a system call.
func (t *thread) completeSyscallFinding(f *finding, row syscallInfo, args [6]uint64) {
	watches, readable := false, true
	t.prober.awaitedFDs = 0
	switch row.kind {
	case readWait:
		if t.isTTY(int(int32(args[0]))) {
			f.state, f.reason = Reading, "blocked reading the terminal"
			return
		}
	case writeWait:
		if t.isTTY(int(int32(args[0]))) {
			f.reason = "blocked writing the terminal"
			return
		}
	case pollWait:
		watches, readable = t.pollsTTY(args[0], args[1])
	case selectWait:
		watches, readable = t.selectsTTY(int(int32(args[0])), args[1])
	case epollWait:
		watches = t.epollsTTY(int(int32(args[0])), 0)
	case uringWait:
		f.state, f.reason = Unknown, "waits by io_uring, target unknown"
		return
	}
	switch {
	case watches:
		f.state, f.timeout = Polling, t.timeout(row, args[row.arg])
		f.reason, f.onlyTerminal = "waits for the terminal, among other things", t.prober.awaitedFDs == 1
	case !readable:
		*f, _ = t.byWchan()
	default:
		f.reason = "waits for something else"
		f.pause = t.remainingPause(row, args)
		if row.name == "futex" && futexWaitCommands[args[1]&futexCommandMask] && args[3] != 0 {
			f.syscall = timedFutex
		}
	}
}

// timedFutex is the name of a futex call with a timeout: its program then does other work.
const timedFutex = "futex with a limit"

// futexCommandMask selects the command of a futex operation.
const futexCommandMask = 0x7f

var futexWaitCommands = map[uint64]bool{0: true, 9: true} // FUTEX_WAIT, FUTEX_WAIT_BITSET

// remainingPause returns the remaining time of a call's sleep, or 0.
func (t *thread) remainingPause(row syscallInfo, args [6]uint64) time.Duration {
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
			return time.Hour // unknown: assume a long one
		}
		d -= time.Duration(now.Nano())
	}
	return max(d, 1)
}

// isTTY reports whether a descriptor is open on the terminal, under any of its names. If it is the master of another
// terminal, isTTY records that: the thread is a relay for it.
func (t *thread) isTTY(fd int) bool {
	if fd < 0 {
		return false
	}
	dev, ok := t.process.CharDevice(t.path + "fd/" + strconv.Itoa(fd))
	if !ok {
		return false
	}
	if dev == devMaster {
		t.prober.recordMaster(t.process, t.path, fd)
	}
	return dev == t.prober.target.TTY || dev == devTTY && t.isControllingTTY()
}

// devTTY is /dev/tty, the process's controlling terminal. devMaster is /dev/ptmx, the master of a pseudo-terminal.
var devTTY, devMaster = unix.Mkdev(5, 0), unix.Mkdev(5, 2)

// isControllingTTY reports whether the terminal is the process's controlling terminal.
func (t *thread) isControllingTTY() bool {
	return unix.Mkdev(sys.SplitDevice(t.process.TTY)) == t.prober.target.TTY
}

// watchesTTY reports whether a descriptor is the terminal, or an epoll instance with the terminal.
func (t *thread) watchesTTY(fd, depth int) bool {
	return t.isTTY(fd) || depth < maxNested && t.epollsTTY(fd, depth+1)
}

// pollsTTY examines an array of n struct pollfd { int fd; short events, revents; } at an address. readable is false if
// the memory may not be read.
func (t *thread) pollsTTY(at, n uint64) (watches, readable bool) {
	if n == 0 {
		return false, true
	}
	const size = 8
	b := t.prober.memoryBuffer(size * int(min(n, maxPollFDs)))
	if !t.process.ReadMemory(at, b) {
		return false, false
	}
	for ; len(b) >= size; b = b[size:] {
		fd := int(int32(binary.NativeEndian.Uint32(b)))
		events := binary.NativeEndian.Uint16(b[4:])
		if fd >= 0 {
			t.prober.awaitedFDs++
		}
		if events&(unix.POLLIN|unix.EPOLLRDNORM) != 0 {
			watches = t.watchesTTY(fd, 0) || watches
		}
	}
	return watches, true
}

// selectsTTY examines the fd_set of read descriptors at an address: longs, lowest bit first. The kernel leaves it
// unchanged until it returns.
func (t *thread) selectsTTY(n int, at uint64) (watches, readable bool) {
	if n <= 0 || at == 0 {
		return false, true
	}
	n = min(n, maxSelectFDs)
	const long = strconv.IntSize / 8
	b := t.prober.memoryBuffer((n + 8*long - 1) / (8 * long) * long)
	if !t.process.ReadMemory(at, b) {
		return false, false
	}
	for fd := range n {
		word := b[fd/(8*long)*long:]
		bits := uint64(binary.NativeEndian.Uint32(word))
		if long == 8 {
			bits = binary.NativeEndian.Uint64(word)
		}
		if bits>>(fd%(8*long))&1 != 0 {
			t.prober.awaitedFDs++
			watches = t.watchesTTY(fd, 0) || watches
		}
	}
	return watches, true
}

// epollsTTY reports whether an epoll instance awaits input of the terminal. Other descriptors await none.
func (t *thread) epollsTTY(fd, depth int) bool {
	if fd < 0 {
		return false
	}
	b, err := t.prober.read(t.process, t.path+"fdinfo/"+strconv.Itoa(fd))
	if err != nil {
		return false
	}
	var fds [64]int
	watched := fds[:0] // nested instances reuse the buffer
	parseEpollTargets(b, func(fd int, events uint32) {
		if events&(unix.EPOLLIN|unix.EPOLLRDNORM) != 0 && len(watched) < maxPollFDs {
			watched = append(watched, fd)
		}
	})
	found := false
	for _, fd := range watched {
		found = t.watchesTTY(fd, depth) || found
	}
	return found
}

// timeout returns the longest duration of a call, negative without a limit.
func (t *thread) timeout(row syscallInfo, arg uint64) time.Duration {
	var unit time.Duration
	switch row.timeout {
	case timeoutMillis:
		return max(-1, time.Duration(int32(arg))*time.Millisecond)
	case timeoutTimespec:
		unit = time.Nanosecond
	case timeoutTimeval:
		unit = time.Microsecond
	}
	b := t.prober.memoryBuffer(2 * strconv.IntSize / 8)
	if unit == 0 || arg == 0 || !t.process.ReadMemory(arg, b) {
		return -1
	}
	sec, frac := readLong(b), readLong(b[len(b)/2:])
	if sec < 0 || frac < 0 || sec > math.MaxInt64/2/int64(time.Second) || frac > int64(time.Second) {
		return -1
	}
	return time.Duration(sec)*time.Second + time.Duration(frac)*unit
}

// readLong decodes a C long of this machine.
func readLong(b []byte) int64 {
	if strconv.IntSize == 64 {
		return int64(binary.NativeEndian.Uint64(b))
	}
	return int64(int32(binary.NativeEndian.Uint32(b)))
}

// exitedFinding converts a failed read to a finding: a thread that has exited waits for nothing.
func exitedFinding(err error) (finding, bool) {
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH) {
		return finding{state: Sleeping, source: FromSyscall, timeout: -1, reason: "ended meanwhile"}, true
	}
	return finding{}, false
}
