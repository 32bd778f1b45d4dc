package keeper

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/sys"
)

// resetPriority undoes nice, for all threads: the keeper leads its own process group. Without the permission for that it
// may still reset a raised out-of-memory score.
func resetPriority() error {
	if n, err := sys.OOMScore(0); err == nil && n > 0 {
		_ = sys.SetOOMScore(0, 0) // the score of a session, if we were started in one
	}
	// The system call answers 20 - nice.
	if n, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err != nil || n == 20 {
		return err
	}
	return os.NewSyscallError("setpriority", unix.Setpriority(unix.PRIO_PGRP, 0, 0))
}
