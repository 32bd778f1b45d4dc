package evidence

import (
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/sys"
)

// ReadSize is how many bytes a thread that is blocked in read asks for; 0 when that is not
// known.
func ReadSize(pid, tid int) int {
	dir, err := sys.OpenDir(pid)
	if err != nil {
		return 0
	}
	defer dir.Close()
	var buf [256]byte
	b, err := dir.Read("task/"+strconv.Itoa(tid)+"/syscall", buf[:])
	if err != nil {
		return 0
	}
	c, ok := parseCall(b)
	if !ok || c.running || c.nr != unix.SYS_READ || c.args[2] > 1<<31-1 {
		return 0
	}
	return int(c.args[2])
}
