package inputdetect

import (
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/sys"
)

// BlockedRead returns the size of the read in which a thread is blocked, in bytes, and the thread's stack pointer. Each
// is 0 if unknown.
func BlockedRead(pid, tid int) (size int, stack uint64) {
	dir, err := sys.OpenProcDir(pid)
	if err != nil {
		return 0, 0
	}
	defer dir.Close()
	var buf [256]byte
	b, err := dir.Read("task/"+strconv.Itoa(tid)+"/syscall", buf[:])
	if err != nil {
		return 0, 0
	}
	c, ok := parseSyscall(b)
	if !ok || c.isRunning {
		return 0, 0
	}
	if c.number == unix.SYS_READ && c.args[2] < 1<<31 {
		size = int(c.args[2])
	}
	return size, c.stack
}
