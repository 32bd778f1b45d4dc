//go:build unix

package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/keeper/launch"
	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/sys/unixsock"
	"github.com/longterm-dev/longterm/session/sys/unixsock/netsock"
	"github.com/longterm-dev/longterm/store/atomicfile"
)

// startTime bounds how long a daemon may take to start.
const startTime = 20 * time.Second

// Ensure returns once a daemon serves; it starts keeper and daemon if needed. It ends with ctx.
func (c *Client) Ensure(ctx context.Context) error {
	err := c.ensure(ctx)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func (c *Client) ensure(ctx context.Context) error {
	if c.o.Way != nil {
		return c.o.Way.Ensure(ctx)
	}
	if c.o.KeeperArgv == nil {
		return api.Errorf(api.CodeUnavailable, "no daemon is running").WithHint("start it with `longterm daemon start`")
	}
	if err := c.o.Dirs.Make(); err != nil {
		return c.storage("%v", err)
	}
	unlock, err := lockFile(ctx, c.o.Dirs.StartLock())
	if err != nil {
		return c.storage("start lock: %v", err)
	}
	defer unlock()
	if conn, err := netsock.Dial(c.o.Dirs.Socket()); err == nil { // another client was faster
		return conn.Close()
	} else if errors.Is(err, unixsock.ErrForeign) {
		return foreign(err)
	}
	if err := c.stopped(); err != nil {
		return err
	}
	if err := os.Remove(c.o.Dirs.Stopped()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return api.Errorf(api.CodeStorage, "%v", err)
	}
	if full := c.noRoomToBegin(); full != nil {
		return full
	}
	starting, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	l, err := c.mainKeeper()
	if err != nil {
		if full := c.noRoom(err); full != nil {
			return full
		}
		if errors.Is(err, link.ErrRefused) {
			return &finalError{api.Errorf(api.CodeDenied, "daemon not started: %v", err).
				WithHint("the daemon is stopped; start it outside of this session with `longterm daemon start`")}
		}
		return api.Errorf(api.CodeUnavailable, "%v", err).WithHint("see %s", c.o.Dirs.KeeperLog())
	}
	defer l.Close()
	if err := l.StartDaemon(starting); err != nil {
		if full := c.noRoom(err); full != nil {
			return full
		}
		return api.Errorf(api.CodeUnavailable, "the daemon did not start: %v", lastWords(err, c.o.Dirs)).
			WithHint("see %s and %s; running sessions continue", c.o.Dirs.DaemonLog(), c.o.Dirs.KeeperLog())
	}
	return c.waitForSocket(ctx)
}

// storage returns an error about longterm's directories, with a hint if the disk is full.
func (c *Client) storage(format string, err error) error {
	e := api.Errorf(api.CodeStorage, format, err)
	if errors.Is(err, syscall.ENOSPC) {
		return e.WithHint("free space on its file system, then retry")
	}
	return e
}

// noRoom returns the error of a daemon or keeper that cannot start on a full disk: its own log had no room for the
// message. It returns nil for other errors.
func (c *Client) noRoom(err error) error {
	full := err
	if !errors.Is(err, syscall.ENOSPC) {
		full = atomicfile.Room(c.o.Dirs.State)
	}
	if !errors.Is(full, syscall.ENOSPC) {
		return nil
	}
	return &finalError{api.Errorf(api.CodeUnavailable, "the daemon did not start: %s: %v", c.o.Dirs.State, syscall.ENOSPC).
		WithHint("free space on its file system, then retry; running sessions continue, and no saved data is lost")}
}

// noRoomToBegin is noRoom for the first start of a daemon, before a keeper is started.
func (c *Client) noRoomToBegin() error {
	if st, err := os.Stat(c.o.Dirs.Database()); err == nil && st.Size() > 0 {
		return nil // a daemon continues with the existing files
	}
	return c.noRoom(nil)
}

// stopped returns an error if longterm was stopped on purpose since this client was made; the client then starts
// nothing.
func (c *Client) stopped() error {
	if !c.o.OneVerb || c.o.Way != nil {
		return nil
	}
	b, err := os.ReadFile(c.o.Dirs.Stopped())
	if err != nil {
		return nil // not stopped, or started again since
	}
	if at, err := time.Parse(time.RFC3339Nano, string(b)); err != nil || at.Before(c.made) {
		return nil
	}
	return api.Errorf(api.CodeUnavailable, "longterm was ended, with all its sessions (`longterm daemon stop --kill-sessions`)").
		WithHint("any command starts it again")
}

// whyStopped replaces an unavailability error by the reason if longterm was stopped on purpose.
func (c *Client) whyStopped(err error) error {
	if isUnavailable(err) {
		if stopped := c.stopped(); stopped != nil {
			return stopped
		}
	}
	return err
}

// finalError is a permanent reason for a missing daemon: another user serves the socket, or the disk is full.
type finalError struct{ err *api.Error }

func (e *finalError) Error() string { return e.err.Error() }
func (e *finalError) Unwrap() error { return e.err }

func isFinal(err error) bool {
	var final *finalError
	return errors.As(err, &final)
}

func foreign(err error) error {
	return &finalError{api.Errorf(api.CodeUnavailable, "%v", err).
		WithHint("set %s to a directory that you own; the owner of this one could read your sessions", paths.EnvDir)}
}

// lastWords appends the daemon's own complaint to the keeper's report of its end.
func lastWords(err error, dirs paths.Dirs) error {
	if line := lastLine(dirs.KeeperLog()); line != "" {
		return fmt.Errorf("%w (%s)", err, line)
	}
	return err
}

// dyingTime bounds how long a process that was killed may hold its socket.
const dyingTime = 2 * time.Second

// isDying reports whether the connection was accepted and then lost, most likely by a killed process whose socket is
// not yet closed.
func isDying(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF)
}

// mainKeeper connects to the main keeper, starting it if it does not run.
func (c *Client) mainKeeper() (*link.Link, error) {
	socket := c.o.Dirs.KeeperSocket(paths.MainKeeper)
	l, err := link.Dial(socket, wire.RoleTool, c.o.Build(), nil)
	for until := time.Now().Add(dyingTime); isDying(err) && time.Now().Before(until); {
		time.Sleep(2 * time.Millisecond)
		l, err = link.Dial(socket, wire.RoleTool, c.o.Build(), nil)
	}
	if err == nil {
		return l, nil
	}
	if !notThere(err) {
		return nil, err
	}
	err = launch.Keeper(c.o.Program, c.o.KeeperArgv(), c.o.Dirs.KeeperLog())
	if err != nil && !errors.Is(err, launch.ErrRunning) {
		return nil, err
	}
	return c.dialRunning(socket)
}

// dialRunning connects to a keeper that is known to run. When its socket was removed it makes
// it again in a moment.
func (c *Client) dialRunning(socket string) (*link.Link, error) {
	for until := time.Now().Add(3 * launch.WatchEvery); ; {
		l, err := link.Dial(socket, wire.RoleTool, c.o.Build(), nil)
		if err == nil || !notThere(err) {
			return l, err
		}
		if time.Now().After(until) {
			if elsewhere := launch.Holder(c.o.Dirs.KeeperStateLock(paths.MainKeeper)); elsewhere != "" && elsewhere != socket {
				return nil, fmt.Errorf("longterm runs already, with its runtime directory in %s and not in %s: set XDG_RUNTIME_DIR as it was when it was started (%w)",
					filepath.Dir(filepath.Dir(elsewhere)), c.o.Dirs.Run, err)
			}
			return nil, err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// lockFile holds a lock among the clients that start things. It waits until it is free, or ctx
// ends.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	locked := make(chan error, 1)
	go func() { locked <- flock(f) }()
	select {
	case err = <-locked:
	case <-ctx.Done():
		go func() {
			<-locked // what is locked then is given up
			_ = f.Close()
		}()
		return nil, ctx.Err()
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

func flock(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
