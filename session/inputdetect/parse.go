package inputdetect

import (
	"bytes"
	"strconv"
	"strings"
)

// Parsers of files in /proc. The formats are those of proc_pid_syscall(5) and proc_pid_fdinfo(5). A file may be truncated or empty if its process
// ends during the read.

// syscallState is the system call of a thread.
type syscallState struct {
	isRunning bool // the thread runs; the other fields are not valid
	number    int  // -1: blocked, but not in a system call
	args      [6]uint64
	stack     uint64 // stack pointer; 0: missing
}

// parseSyscall parses /proc/PID/syscall.
func parseSyscall(b []byte) (c syscallState, ok bool) {
	b = bytes.TrimSpace(b)
	if string(b) == "running" {
		return syscallState{isRunning: true, number: -1}, true
	}
	f, rest, _ := bytes.Cut(b, []byte{' '})
	nr, err := strconv.Atoi(string(f))
	if err != nil {
		return c, false
	}
	c.number = nr
	if nr < 0 {
		return c, true
	}
	for i := range c.args {
		f, rest, _ = bytes.Cut(rest, []byte{' '})
		f, hex := bytes.CutPrefix(f, []byte("0x"))
		if c.args[i], err = strconv.ParseUint(string(f), 16, 64); err != nil || !hex {
			return c, false
		}
	}
	f, _, _ = bytes.Cut(rest, []byte{' '})
	f, _ = bytes.CutPrefix(f, []byte("0x"))
	c.stack, _ = strconv.ParseUint(string(f), 16, 64)
	return c, true
}

// parseSchedstat parses /proc/PID/schedstat: how long a thread ran, in nanoseconds, and how often.
func parseSchedstat(b []byte) (ns, times uint64, ok bool) {
	ran, rest, _ := bytes.Cut(bytes.TrimSpace(b), []byte{' '})
	_, often, _ := bytes.Cut(rest, []byte{' '})
	ns, err := strconv.ParseUint(string(ran), 10, 64)
	times, err2 := strconv.ParseUint(string(often), 10, 64)
	return ns, times, err == nil && err2 == nil
}

// hasCommands reports whether the arguments of a shell, separated by NULs, give it commands to run: in that case it has
// no prompt.
func hasCommands(cmdline []byte) bool {
	args := bytes.Split(bytes.TrimSuffix(cmdline, []byte{0}), []byte{0})
	for i := 1; i < len(args); i++ {
		switch a := string(args[i]); {
		case a == "-" || a == "--":
			return i+1 < len(args)
		case strings.HasPrefix(a, "--"):
			if a == "--command" || strings.HasPrefix(a, "--command=") {
				return true
			}
			if a == "--rcfile" || a == "--init-file" || a == "--init-command" {
				i++
			}
		case a[:min(1, len(a))] == "-" || a[:min(1, len(a))] == "+":
			if strings.ContainsRune(a, 'c') {
				return true
			}
			if strings.ContainsRune(a, 's') { // what follows are its parameters
				return false
			}
			if strings.ContainsAny(a, "oOC") { // with a name, or an initial command
				i++
			}
		default:
			return true
		}
	}
	return false
}

// parseTTYIndex returns the number of the terminal from the fdinfo of a PTY's master.
func parseTTYIndex(b []byte) (n int, ok bool) {
	for line := range bytes.Lines(b) {
		if rest, found := bytes.CutPrefix(line, []byte("tty-index:")); found {
			n, err := strconv.Atoi(string(bytes.TrimSpace(rest)))
			return n, err == nil && n >= 0
		}
	}
	return 0, false
}

// tcpConnection is a row of /proc/net/tcp or tcp6.
type tcpConnection struct{ local, remote, inode string }

// parseConnections returns the rows of established connections.
func parseConnections(b []byte) (table []tcpConnection) {
	for line := range bytes.Lines(b) {
		f := bytes.Fields(line) // number, local, remote, state, queues, timer, retransmissions, uid, timeout, inode
		if len(f) < 10 || string(f[3]) != "01" {
			continue
		}
		table = append(table, tcpConnection{trimIPv4Prefix(f[1]), trimIPv4Prefix(f[2]), string(f[9])})
	}
	return table
}

// trimIPv4Prefix converts an IPv4 address in IPv6 form to IPv4.
func trimIPv4Prefix(b []byte) string {
	return strings.TrimPrefix(string(b), "0000000000000000FFFF0000")
}

// parseEpollTargets calls f for each descriptor in an epoll instance's fdinfo, with its awaited events.
func parseEpollTargets(b []byte, f func(fd int, events uint32)) {
	for line := range bytes.Lines(b) {
		rest, ok := bytes.CutPrefix(line, []byte("tfd:"))
		if !ok {
			continue
		}
		fields := bytes.Fields(rest)
		if len(fields) < 3 || string(fields[1]) != "events:" {
			continue
		}
		fd, err := strconv.Atoi(string(fields[0]))
		events, err2 := strconv.ParseUint(string(fields[2]), 16, 32)
		if err == nil && err2 == nil && fd >= 0 {
			f(fd, uint32(events))
		}
	}
}
