package program

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	maxRSSUnit = 1024 // ru_maxrss is in KiB, getrusage(2)
	canProbe   = true // the kernel tells what a program waits for
)

// nap sleeps for less than the runtime's timers can.
func nap(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&ts, nil)
}

// tree finds the processes that belong to the program and live: those of its terminal
// session, its descendants, and whatever carries its mark, wherever it moved itself.
func (h *ptyHost) tree() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	leader := h.cmd.Process.Pid
	parents := map[int]int{}
	ours := map[int]bool{}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == os.Getpid() {
			continue
		}
		parent, sid, alive := processLine(name)
		if !alive {
			continue
		}
		parents[pid] = parent
		ours[pid] = sid == leader || pid == leader && !h.reaped.Load() || carries(name, h.mark)
	}
	return descendants(parents, ours)
}

// descendants adds to those that are ours whoever descends from them.
func descendants(parents map[int]int, ours map[int]bool) []int {
	var all []int
	for pid := range parents {
		for up, depth := pid, 0; up > 1 && depth < 64; up, depth = parents[up], depth+1 {
			if ours[up] {
				all = append(all, pid)
				break
			}
		}
	}
	return all
}

// processLine reads what is needed of /proc/PID/stat. The name in field 2 may hold
// anything, so fields are counted from its closing parenthesis. A zombie is dead: its
// parent's business.
func processLine(pid string) (parent, sid int, alive bool) {
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0, 0, false
	}
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) < 4 || f[0][0] == 'Z' || f[0][0] == 'X' {
		return 0, 0, false
	}
	parent, _ = strconv.Atoi(string(f[1]))
	sid, _ = strconv.Atoi(string(f[3]))
	return parent, sid, true
}

func carries(pid, mark string) bool {
	env, err := os.ReadFile("/proc/" + pid + "/environ")
	return err == nil && (bytes.HasPrefix(env, []byte(mark+"\x00")) || bytes.Contains(env, []byte("\x00"+mark+"\x00")))
}
