package sys

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// ReadPath reads a path in a process's memory; empty: there is none to be read.
func ReadPath(pid int, at uint64) string {
	path, whole, err := (&texts{read: memoryOf(pid)}).text(at, unix.PathMax)
	if err != nil || !whole {
		return ""
	}
	return path
}

// ReadBytes reads a process's memory, as much of it as there is.
func ReadBytes(pid int, at uint64, n int) []byte {
	if n <= 0 {
		return nil
	}
	b := make([]byte, n)
	got, err := memoryOf(pid)(at, b)
	if err != nil || got < 0 {
		return nil
	}
	return b[:got]
}

// DescriptorTarget is what a process's descriptor is of: a path, or the kernel's word for it.
func DescriptorTarget(pid, fd int) (string, error) { return readLink(pid, "fd/"+strconv.Itoa(fd)) }

// Machine is how busy this machine is. What cannot be known is 0.
type Machine struct {
	Load         float64 // processes that want a processor, over a minute
	Memory, Free uint64  // bytes; free is what programs could have
}

// LookAtMachine tells how busy this machine is.
func LookAtMachine() (m Machine) {
	if b, err := os.ReadFile("/proc/loadavg"); err == nil {
		first, _, _ := strings.Cut(string(b), " ")
		m.Load, _ = strconv.ParseFloat(first, 64)
	}
	b, _ := os.ReadFile("/proc/meminfo")
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		kib, _ := strconv.ParseUint(f[1], 10, 64)
		switch f[0] {
		case "MemTotal:":
			m.Memory = kib << 10
		case "MemAvailable:":
			m.Free = kib << 10
		}
	}
	return m
}

// PageFaults is how many pages this process had mapped that were in memory already (getrusage(2), ru_minflt).
func PageFaults() uint64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return uint64(u.Minflt)
}

// Threads is how many threads this process has; 0: it is not known.
func Threads() int {
	f, err := os.Open("/proc/self/task")
	if err != nil {
		return 0
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return 0
	}
	return len(names)
}

// LeaveOwnPages unmaps what is mapped of the program's own file and cannot have been written: code and constants that were
// looked at while it began, and 64 KiB around each. They stay in the page cache; what is used again is mapped again.
func LeaveOwnPages() {
	for _, span := range ownSpans() { // at once, and without the runtime: what runs between is mapped again
		_, _, _ = unix.RawSyscall(unix.SYS_MADVISE, span[0], span[1]-span[0], unix.MADV_DONTNEED)
	}
}

// ownSpans are code and constants of this program, which stay where they are.
var ownSpans = sync.OnceValue(func() (spans [][2]uintptr) {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return nil
	}
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return nil
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if start, end, ok := readOnlyOf(exe, s.Text()); ok {
			spans = append(spans, [2]uintptr{start, end})
		}
	}
	return spans
})

// readOnlyOf is where a line of /proc/PID/maps (proc_pid_maps(5)) has a file mapped that nobody writes there.
func readOnlyOf(file, line string) (start, end uintptr, ok bool) {
	// start-end perms offset dev inode path
	span, rest, _ := strings.Cut(line, " ")
	if !strings.HasPrefix(rest, "r-xp ") && !strings.HasPrefix(rest, "r--p ") || !strings.HasSuffix(rest, " "+file) {
		return 0, 0, false
	}
	from, to, _ := strings.Cut(span, "-")
	a, err := strconv.ParseUint(from, 16, strconv.IntSize)
	if err != nil {
		return 0, 0, false
	}
	b, err := strconv.ParseUint(to, 16, strconv.IntSize)
	return uintptr(a), uintptr(b), err == nil && a < b
}
