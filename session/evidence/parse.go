package evidence

import (
	"bytes"
	"strconv"
	"strings"
)

// The formats are those of proc_pid_stat(5), proc_pid_syscall(5) and proc_pid_fdinfo(5).
// A file may be cut off or empty: its process ends while it is read.

// stat is what is needed of /proc/PID/stat.
type stat struct {
	comm    []byte
	state   byte
	parent  int
	group   int
	session int
	tty     uint64 // controlling terminal, as the kernel's new_encode_dev has it
	front   int    // foreground process group of that terminal, -1 without one
	threads int
}

// parseStat reads a stat line. The name may hold anything, parentheses too, so that its
// end is the last one.
func parseStat(b []byte) (s stat, ok bool) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open || end+2 >= len(b) {
		return s, false
	}
	s.comm = b[open+1 : end]
	rest := b[end+2:]
	for field := 3; len(rest) > 0 && field <= 20; field++ {
		var f []byte
		f, rest, _ = bytes.Cut(rest, []byte{' '})
		if field == 3 {
			if len(f) != 1 {
				return s, false
			}
			s.state = f[0]
			continue
		}
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			if field > 8 && field < 20 { // counters, of no interest, may be greater
				continue
			}
			return s, false
		}
		switch field {
		case 4:
			s.parent = int(n)
		case 5:
			s.group = int(n)
		case 6:
			s.session = int(n)
		case 7:
			s.tty = uint64(uint32(n))
		case 8:
			s.front = int(n)
		case 20:
			s.threads = int(n)
			return s, true
		}
	}
	return s, false
}

// call is what a thread is in.
type call struct {
	running bool
	nr      int // -1: blocked, but not in a system call
	args    [6]uint64
}

// parseCall reads /proc/PID/syscall.
func parseCall(b []byte) (c call, ok bool) {
	b = bytes.TrimSpace(b)
	if string(b) == "running" {
		return call{running: true, nr: -1}, true
	}
	f, rest, _ := bytes.Cut(b, []byte{' '})
	nr, err := strconv.Atoi(string(f))
	if err != nil {
		return c, false
	}
	c.nr = nr
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
	return c, true
}

// scripted reports whether the arguments of a shell, separated by NULs, give it what to run: then it
// has no prompt of its own.
func scripted(cmdline []byte) bool {
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
			if strings.ContainsAny(a, "oOC") { // with a name, or a command to begin with
				i++
			}
		default:
			return true
		}
	}
	return false
}

// ttyIndex reads which terminal a PTY's master belongs to out of its fdinfo.
func ttyIndex(b []byte) (n int, ok bool) {
	for line := range bytes.Lines(b) {
		if rest, found := bytes.CutPrefix(line, []byte("tty-index:")); found {
			n, err := strconv.Atoi(string(bytes.TrimSpace(rest)))
			return n, err == nil && n >= 0
		}
	}
	return 0, false
}

// connection is a row of /proc/net/tcp or tcp6.
type connection struct{ local, remote, inode string }

// parseConnections reads the rows of established connections.
func parseConnections(b []byte) (table []connection) {
	for line := range bytes.Lines(b) {
		f := bytes.Fields(line) // number, local, remote, state, queues, timer, retransmissions, uid, timeout, inode
		if len(f) < 10 || string(f[3]) != "01" {
			continue
		}
		table = append(table, connection{plainAddress(f[1]), plainAddress(f[2]), string(f[9])})
	}
	return table
}

// plainAddress writes an IPv4 address in IPv6's clothes as IPv4.
func plainAddress(b []byte) string { return strings.TrimPrefix(string(b), "0000000000000000FFFF0000") }

// parseWatched calls f for each descriptor that an epoll instance's fdinfo lists, with
// the events it is watched for.
func parseWatched(b []byte, f func(fd int, events uint32)) {
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

// deviceOf turns the kernel's encoding of a controlling terminal into major and minor.
func deviceOf(tty uint64) (major, minor uint32) {
	return uint32(tty>>8) & 0xfff, uint32(tty)&0xff | uint32(tty>>12)&0xfff00
}
