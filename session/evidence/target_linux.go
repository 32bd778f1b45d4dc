package evidence

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// TargetOf describes the terminal whose PTY master is fd, as it is now. It is cheap;
// the foreground group changes with every command of a shell, so that it is asked for
// before each probe. Get the descriptor by SyscallConn where reads must stay
// interruptible: os.File.Fd makes it blocking.
func TargetOf(fd int) (Target, error) {
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return Target{}, fmt.Errorf("find the terminal of a PTY: %w", err)
	}
	t := Target{TTY: slaveDevice(n)}
	if t.Group, err = unix.IoctlGetInt(fd, unix.TIOCGPGRP); err != nil {
		return Target{}, fmt.Errorf("find the foreground process group: %w", err)
	}
	if t.Leader, err = unix.IoctlGetInt(fd, unix.TIOCGSID); err != nil {
		t.Leader = 0 // the leader is gone: then all processes are looked at
	}
	return t, nil
}

// slaveDevice is the device number of /dev/pts/n: the majors from 136 on have 256 each,
// of which devpts uses the first with all the minors there are.
func slaveDevice(n int) uint64 { return unix.Mkdev(136, uint32(n)) }
