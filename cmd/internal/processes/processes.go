//go:build unix

// Package processes says which processes of an instance run on this machine, keepers and daemon, by the locks they
// hold, and waits for their ends. It asks no daemon: it is for when there is none, or when one is to go.
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

// AnyKeeper says that a keeper runs.
func AnyKeeper(dirs paths.Dirs) bool {
	return slices.ContainsFunc(dirs.KeeperKeys(), func(key string) bool {
		return launch.Held(dirs.KeeperStateLock(key)) || launch.Held(dirs.KeeperLock(key))
	})
}

// AnyDaemon says that a daemon runs.
func AnyDaemon(dirs paths.Dirs) bool {
	return launch.Held(dirs.DaemonStateLock()) || launch.Held(dirs.DaemonLock())
}

// WaitGone waits until a process has ended: as long as the sessions that it ends before itself
// become fewer, and a minute.
func WaitGone(ctx context.Context, pid int, sessions func() int) error {
	deadline, asked, last := time.Now().Add(time.Minute), time.Now(), -1
	for Alive(pid) {
		if time.Since(asked) > time.Second {
			if n := sessions(); n != last {
				last, deadline = n, time.Now().Add(time.Minute)
			}
			asked = time.Now()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("daemon %d does not end; see its log, or kill it: sessions go on", pid)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}

// Alive reports whether a process runs. One that ended and waits for its parent, or for
// an init that is slow to reap, does not.
func Alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	st, err := sys.ReadStat(pid)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return true
	case err != nil:
		return !errors.Is(err, sys.ErrGone)
	}
	return st.State != 'Z'
}

// Until is a context that ends also when a process of this user's does. It takes a process that has the number later for
// another one, where the system tells when a process began.
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

// untilPoll is how often a process is looked at whose end ends something.
const untilPoll = time.Second

// WithKeeper adds what the keeper knows when there is no daemon to ask.
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

// lastDaemon says what became of the daemon that was there last. The keeper may not know yet that it ended: what it
// knows of an end is then that of an earlier one.
func lastDaemon(st *wire.StatusReply, alive func(pid int) bool) string {
	switch pid := int(st.DaemonPID); {
	case pid != 0 && alive(pid):
		return fmt.Sprintf("; daemon %d does not serve yet", pid)
	case pid != 0:
		return fmt.Sprintf("; last: daemon %d has just ended", pid)
	case st.LastError != "":
		return "; last: " + st.LastError
	}
	return ""
}
