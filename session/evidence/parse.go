package evidence

import (
	"bytes"
	"strconv"
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
