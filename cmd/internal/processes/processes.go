//go:build unix

// Package processes finds the running processes of an instance on this machine, keepers and daemon, by their locks, and
// waits for their end. It sends no requests to a daemon, because it is used when none runs, or when one must exit.
package processes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/launch"
	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/sys"
)

// AnyKeeper reports whether a keeper runs.
func AnyKeeper(dirs paths.Dirs) bool {
	return slices.ContainsFunc(dirs.KeeperKeys(), func(key string) bool {
		return launch.IsHeld(dirs.KeeperStateLock(key)) || launch.IsHeld(dirs.KeeperLock(key))
	})
}

// AnyDaemon reports whether a daemon runs.
func AnyDaemon(dirs paths.Dirs) bool {
	return launch.IsHeld(dirs.DaemonStateLock()) || launch.IsHeld(dirs.DaemonLock())
}

// WaitExit waits until a process has exited. It waits as long as the number of sessions, which the process ends first,
// decreases, and then up to a minute.
func WaitExit(ctx context.Context, pid int, sessions func() int) error {
	deadline, asked, last := time.Now().Add(time.Minute), time.Now(), -1
	for Alive(pid) {
		if time.Since(asked) > time.Second {
			if n := sessions(); n != last {
				last, deadline = n, time.Now().Add(time.Minute)
			}
			asked = time.Now()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("daemon %d does not exit; see its log, or kill it (sessions keep running)", pid)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}

// Alive reports whether a process runs. A zombie that waits to be reaped does not.
func Alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	st, err := sys.ReadStat(pid)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return true
	case err != nil:
		return !errors.Is(err, sys.ErrEnded)
	}
	return st.State != 'Z'
}

// Until returns a context that also ends when a process of this user exits. A later process with the same number counts
// as another one, if the system reports start times.
func Until(ctx context.Context, pid int) (context.Context, context.CancelFunc) {
	return until(ctx, pid, untilPoll)
}

func until(ctx context.Context, pid int, poll time.Duration) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(ctx)
	began, err := sys.ReadStat(pid)
	lives := func() bool {
		st, serr := sys.ReadStat(pid)
		return Alive(pid) && (err != nil || serr != nil || st.Start == began.Start)
	}
	go func() {
		defer stop()
		t := time.NewTicker(poll)
		defer t.Stop()
		for lives() {
			select {
			case <-t.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, stop
}

// untilPoll is the interval at which Until checks a process.
const untilPoll = time.Second

// WithKeeper adds the keeper's state to an error about a missing daemon.
func WithKeeper(ctx context.Context, err error, dirs paths.Dirs, build func() string) error {
	l, derr := link.Dial(dirs.KeeperSocket(paths.MainKeeper), wire.RoleTool, build(), nil)
	if derr != nil {
		return err
	}
	defer l.Close()
	st, derr := l.Status(ctx)
	if derr != nil {
		return err
	}
	return fmt.Errorf("%w (keeper %d holds %d sessions%s)", err, st.PID, st.Sessions, lastDaemon(st, Alive))
}

// lastDaemon describes the end of the last daemon. The keeper may not know yet that it ended; its last known end is
// then that of an earlier daemon.
func lastDaemon(st *wire.StatusReply, alive func(pid int) bool) string {
	switch pid := int(st.DaemonPID); {
	case pid != 0 && alive(pid):
		return fmt.Sprintf("; daemon %d not serving yet", pid)
	case pid != 0:
		return fmt.Sprintf("; last: daemon %d has just ended", pid)
	case st.LastError != "":
		return "; last: " + st.LastError
	}
	return ""
}
