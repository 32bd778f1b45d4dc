package inputdetect

import (
	"github.com/longterm-dev/longterm/session/sys"
)

// TargetOf returns the terminal whose PTY master is fd, in its current state. It is cheap; the foreground group changes
// with every command of a shell, so call it before each probe. Get the descriptor by SyscallConn if reads must stay
// interruptible: os.File.Fd makes it blocking.
func TargetOf(fd int) (Target, error) {
	n, err := sys.TerminalNumber(fd)
	if err != nil {
		return Target{}, err
	}
	t := Target{TTY: sys.TerminalDevice(n)}
	if t.Group, err = sys.ForegroundGroup(fd); err != nil {
		return Target{}, err
	}
	if t.Leader, err = sys.SessionLeader(fd); err != nil {
		t.Leader = 0 // without a leader all processes are examined
	}
	return t, nil
}
