package keeper

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/sys"
)

const maxRSSUnit = 1024 // ru_maxrss is in KiB, getrusage(2)

// becomeSubreaper makes orphans of sessions our children instead of init's, so that they can be found and reaped.
func becomeSubreaper() error {
	return os.NewSyscallError("prctl", unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
}

// raiseOOMScore makes the out-of-memory killer choose a child before the keeper and the daemon. Errors are ignored: the
// child may have exited.
func raiseOOMScore(pid int) {
	_ = sys.SetOOMScore(pid, 200)
}

// signalSession signals every process of the terminal session whose leader is leader.
func signalSession(leader int, sig syscall.Signal, reaped bool) error {
	var errs error
	pids, _ := sys.PIDs()
	for _, pid := range pids {
		if pid == os.Getpid() || reaped && pid == leader {
			continue
		}
		if st, err := sys.ReadStat(pid); err == nil && st.SessionLeader == leader {
			errs = errors.Join(errs, ignoreNoProcess(syscall.Kill(pid, sig)))
		}
	}
	return errs
}

// errNoSystemd is returned if no scope can be requested.
var errNoSystemd = errors.New("no systemd user manager in reach")

// moveToOwnScope moves this process out of the unit or login session that it was started in, into a new scope of the
// user's systemd. The end of the login or unit then does not end the sessions. Call it before any child exists.
func moveToOwnScope() error {
	bus := filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "systemd", "private")
	if _, err := os.Stat(bus); err != nil {
		return errNoSystemd
	}
	busctl, err := exec.LookPath("busctl")
	if err != nil {
		return fmt.Errorf("%w: busctl is not installed", errNoSystemd)
	}
	pid := strconv.Itoa(os.Getpid())
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, busctl, "--user", "call",
		"org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager",
		"StartTransientUnit", "ssa(sv)a(sa(sv))",
		"longterm-keeper-"+pid+".scope", "fail",
		"4", "Description", "s", "longterm sessions", "PIDs", "au", "1", pid, "CollectMode", "s", "inactive-or-failed",
		"Delegate", "b", "true", // the keeper may divide its cgroup
		"0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("systemd scope: %w: %s", err, strings.TrimSpace(string(out)))
	}
	awaitScope("longterm-keeper-" + pid + ".scope")
	return nil
}

// handoffFile returns memory that survives execve under its descriptor number.
func handoffFile() (*os.File, error) {
	fd, err := unix.MemfdCreate("longterm-handoff", 0)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), "handoff"), nil
}
