package sys

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// ReadPath reads a path in a process's memory, or returns "".
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

// DescriptorTarget returns the target of a process's descriptor: a path, or the kernel's name for it.
func DescriptorTarget(pid, fd int) (string, error) { return readLink(pid, "fd/"+strconv.Itoa(fd)) }

// MachineLoad is the load of this machine. A figure that is unknown is 0.
type MachineLoad struct {
	Load         float64 // processes that want a processor, over a minute
	Memory, Free uint64  // bytes; free is what programs could have
}

// LookAtMachine returns the load of this machine.
func LookAtMachine() (m MachineLoad) {
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

// PageFaults returns the number of page faults of this process without I/O (getrusage(2), ru_minflt).
func PageFaults() uint64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return uint64(u.Minflt)
}

// Threads returns the number of threads of this process; 0: unknown.
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

// readOnlyOf returns the addresses of a read-only mapping of a file, from a line of /proc/PID/maps (proc_pid_maps(5)).
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
