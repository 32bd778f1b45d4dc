package calm

import (
	"bufio"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// leavePages unmaps what is mapped of the program's own file and cannot have been written: code and constants that were
// looked at while it began, and 64 KiB around each. They stay in the page cache; what is used again is mapped again.
func leavePages() {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if start, end, ok := readOnlyOf(exe, s.Text()); ok {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, start, end-start, unix.MADV_DONTNEED)
		}
	}
}

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
