package sys

import (
	"bytes"
	"strconv"
	"time"
)

// Tick is the unit of the kernel's process times: USER_HZ is 100 on all supported machines.
const Tick = 10 * time.Millisecond

// Stat contains the used fields of /proc/PID/stat (proc_pid_stat(5)).
type Stat struct {
	Name          []byte // set by the program or its thread; shares memory with the parsed line
	State         byte   // R, S, D, T, t, Z, X …
	Parent        int
	Group         int    // process group
	SessionLeader int    // leader of the terminal session
	TTY           uint64 // controlling terminal in the kernel's new_encode_dev form; 0: none
	Foreground    int    // foreground process group of that terminal, -1: none
	UserTicks     uint64 // processor time in user mode, in ticks
	SystemTicks   uint64 // processor time in the kernel, in ticks
	Threads       int
	Start         uint64 // start time, in ticks since boot
}

// IsDead reports whether a process is dead; a zombie is.
func (s *Stat) IsDead() bool { return s.State == 'Z' || s.State == 'X' || s.State == 'x' }

// CPUTime returns the processor time of the process and its threads.
func (s *Stat) CPUTime() time.Duration { return time.Duration(s.UserTicks+s.SystemTicks) * Tick }

// ParseStat parses a stat line. The name may contain anything, also parentheses, so the last one ends it. It allocates
// nothing. The line may be cut off if its process exits during the read.
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
		if err := s.setField(field, f); err != nil {
			return Stat{}, err
		}
		if field == 22 {
			return s, nil
		}
	}
	return Stat{}, ErrMalformed
}

// setField parses a field. Unused counters may exceed our integers.
func (s *Stat) setField(field int, f []byte) error {
	var n int64
	var err error
	switch field {
	case 4, 5, 6, 7, 8, 20:
		n, err = strconv.ParseInt(string(f), 10, 64)
	case 14:
		s.UserTicks, _ = strconv.ParseUint(string(f), 10, 64)
	case 15:
		s.SystemTicks, _ = strconv.ParseUint(string(f), 10, 64)
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
		s.SessionLeader = int(n)
	case 7:
		s.TTY = uint64(uint32(n))
	case 8:
		s.Foreground = int(n)
	case 20:
		s.Threads = int(n)
	}
	return nil
}

// SplitDevice returns major and minor of the kernel's encoding of a controlling terminal.
func SplitDevice(tty uint64) (major, minor uint32) {
	return uint32(tty>>8) & 0xfff, uint32(tty)&0xff | uint32(tty>>12)&0xfff00
}
