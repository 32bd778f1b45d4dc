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
	path, isComplete, err := (&stringReader{read: memoryOf(pid)}).readString(at, unix.PathMax)
	if err != nil || !isComplete {
		return ""
	}
	return path
}

// ReadBytes reads up to n bytes of a process's memory.
func ReadBytes(pid int, at uint64, n int) []byte {
	if n <= 0 {
		return nil
	}
	b := make([]byte, n)
	n2, err := memoryOf(pid)(at, b)
	if err != nil || n2 < 0 {
		return nil
	}
	return b[:n2]
}

// DescriptorTarget returns the target of a process's descriptor: a path, or the kernel's name for it.
func DescriptorTarget(pid, fd int) (string, error) { return readLink(pid, "fd/"+strconv.Itoa(fd)) }

// MachineLoad is the load of this machine. A figure that is unknown is 0.
type MachineLoad struct {
	Load         float64 // average number of runnable processes in a minute
	Memory, Free uint64  // bytes; Free is available to programs
}

// ReadMachineLoad returns the load of this machine.
func ReadMachineLoad() (m MachineLoad) {
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

// ThreadCount returns the number of threads of this process; 0: unknown.
func ThreadCount() int {
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

// ReleaseOwnPages unmaps read-only pages of this program's file: code and constants that were used during initialization, and
// 64 KiB around each. They stay in the page cache, and are mapped again when used.
func ReleaseOwnPages() {
	for _, span := range ownReadOnlySpans() { // without the runtime: code that runs in between is mapped again
		_, _, _ = unix.RawSyscall(unix.SYS_MADVISE, span[0], span[1]-span[0], unix.MADV_DONTNEED)
	}
}

// ownReadOnlySpans returns the address ranges of this program's code and constants, which do not move.
var ownReadOnlySpans = sync.OnceValue(func() (spans [][2]uintptr) {
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
		if start, end, ok := parseReadOnlyMapping(exe, s.Text()); ok {
			spans = append(spans, [2]uintptr{start, end})
		}
	}
	return spans
})

// parseReadOnlyMapping returns the addresses of a read-only mapping of a file, from a line of /proc/PID/maps (proc_pid_maps(5)).
func parseReadOnlyMapping(file, line string) (start, end uintptr, ok bool) {
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
