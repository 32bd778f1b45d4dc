package sys

import (
	"bytes"
	"strconv"
	"time"
)

// Tick is the unit of the kernel's times of processes: USER_HZ is 100 on all we run on.
const Tick = 10 * time.Millisecond

// Stat is what is needed of /proc/PID/stat, proc_pid_stat(5).
type Stat struct {
	Name    []byte // as the program or its thread calls itself; it shares memory with what was parsed
	State   byte   // R, S, D, T, t, Z, X …
	Parent  int
	Group   int    // process group
	Session int    // the terminal session's leader
	TTY     uint64 // controlling terminal, as the kernel's new_encode_dev has it; 0: none
	Front   int    // foreground process group of that terminal, -1 without one
	User    uint64 // time used, in ticks
	System  uint64 // time used by the kernel for it, in ticks
	Threads int
	Start   uint64 // when it started, in ticks since the machine did
}

// IsDead reports whether a process is dead; a zombie is.
func (s *Stat) IsDead() bool { return s.State == 'Z' || s.State == 'X' || s.State == 'x' }

// CPUTime returns the processor time of the process and its threads.
func (s *Stat) CPUTime() time.Duration { return time.Duration(s.User+s.System) * Tick }

// ParseStat reads a stat line. The name in it may hold anything, parentheses too, so that its end is
// the last one. It allocates nothing. The line may be cut off: its process ends while it is read.
func ParseStat(b []byte) (s Stat, err error) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open || end+2 >= len(b) {
		return Stat{}, ErrMalformed
	}
	s.Name = b[open+1 : end]
	rest := b[end+2:]
	for field := 3; len(rest) > 0; field++ {
		var f []byte
		f, rest, _ = bytes.Cut(rest, []byte{' '})
		if field == 3 {
			if len(f) != 1 {
				return Stat{}, ErrMalformed
			}
			s.State = f[0]
			continue
		}
		if err := s.set(field, f); err != nil {
			return Stat{}, err
		}
		if field == 22 {
			return s, nil
		}
	}
	return Stat{}, ErrMalformed
}

// set takes a field. Counters of no interest here may be greater than any integer of ours.
func (s *Stat) set(field int, f []byte) error {
	var n int64
	var err error
	switch field {
	case 4, 5, 6, 7, 8, 20:
		n, err = strconv.ParseInt(string(f), 10, 64)
	case 14:
		s.User, _ = strconv.ParseUint(string(f), 10, 64)
	case 15:
		s.System, _ = strconv.ParseUint(string(f), 10, 64)
	case 22:
		s.Start, err = strconv.ParseUint(string(bytes.TrimSpace(f)), 10, 64)
	}
	if err != nil {
		return ErrMalformed
	}
	switch field {
	case 4:
		s.Parent = int(n)
	case 5:
		s.Group = int(n)
	case 6:
		s.Session = int(n)
	case 7:
		s.TTY = uint64(uint32(n))
	case 8:
		s.Front = int(n)
	case 20:
		s.Threads = int(n)
	}
	return nil
}

// Device turns the kernel's encoding of a controlling terminal into major and minor.
func Device(tty uint64) (major, minor uint32) {
	return uint32(tty>>8) & 0xfff, uint32(tty)&0xff | uint32(tty>>12)&0xfff00
}
