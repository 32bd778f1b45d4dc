package evidence

import (
	"github.com/longterm-dev/longterm/session/sys"
)

// TargetOf describes the terminal whose PTY master is fd, as it is now. It is cheap;
// the foreground group changes with every command of a shell, so that it is asked for
// before each probe. Get the descriptor by SyscallConn where reads must stay
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
		t.Leader = 0 // the leader is gone: then all processes are looked at
	}
	return t, nil
}
