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

// maxStartTime bounds the start of a daemon.
const maxStartTime = 20 * time.Second

// Ensure returns once a daemon serves. It starts keeper and daemon if needed.
func (c *Client) Ensure(ctx context.Context) error {
	err := c.ensure(ctx)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// ensure starts what Ensure needs. It may return another error for an ended context.
func (c *Client) ensure(ctx context.Context) error {
	if c.options.Remote != nil {
		return c.options.Remote.Ensure(ctx)
	}
	if c.options.KeeperArgv == nil {
		return api.Errorf(api.CodeUnavailable, "no daemon is running").WithHint("start it with `longterm daemon start`")
	}
	if err := c.options.Dirs.Make(); err != nil {
		return c.storageError("%v", err)
	}
	unlock, err := acquireLock(ctx, c.options.Dirs.StartLock())
	if err != nil {
		return c.storageError("start lock: %v", err)
	}
	defer unlock()
	if conn, err := netsock.Dial(c.options.Dirs.Socket()); err == nil { // another client was faster
		return conn.Close()
	} else if errors.Is(err, unixsock.ErrForeign) {
		return newForeignSocketError(err)
	}
	if err := c.stoppedByUserError(); err != nil {
		return err
	}
	if err := os.Remove(c.options.Dirs.Stopped()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return api.Errorf(api.CodeStorage, "%v", err)
	}
	if full := c.firstStartDiskFullError(); full != nil {
		return full
	}
	starting, cancel := context.WithTimeout(ctx, maxStartTime)
	defer cancel()
	l, err := c.mainKeeper()
	if err != nil {
		if full := c.diskFullError(err); full != nil {
			return full
		}
		if errors.Is(err, link.ErrRejected) {
			return &permanentError{api.Errorf(api.CodeDenied, "daemon not started: %v", err).
				WithHint("the daemon is stopped; start it outside of this session with `longterm daemon start`")}
		}
		return api.Errorf(api.CodeUnavailable, "%v", err).WithHint("see %s", c.options.Dirs.KeeperLog())
	}
	defer l.Close()
	if err := l.StartDaemon(starting); err != nil {
		if full := c.diskFullError(err); full != nil {
			return full
		}
		return api.Errorf(api.CodeUnavailable, "the daemon did not start: %v", withKeeperLog(err, c.options.Dirs)).
			WithHint("see %s and %s; running sessions continue", c.options.Dirs.DaemonLog(), c.options.Dirs.KeeperLog())
	}
	return c.waitForSocket(ctx)
}

// storageError returns an error about longterm's directories, with a hint if the disk is full.
func (c *Client) storageError(format string, err error) error {
	e := api.Errorf(api.CodeStorage, format, err)
	if errors.Is(err, syscall.ENOSPC) {
		return e.WithHint("free space on its file system, then retry")
	}
	return e
}

// diskFullError returns the error of a daemon or keeper that cannot start on a full disk, on which its own log had no
// space for the message. It returns nil for other errors.
func (c *Client) diskFullError(err error) error {
	full := err
	if !errors.Is(err, syscall.ENOSPC) {
		full = atomicfile.CheckSpace(c.options.Dirs.State)
	}
	if !errors.Is(full, syscall.ENOSPC) {
		return nil
	}
	return &permanentError{api.Errorf(api.CodeUnavailable, "the daemon did not start: %s: %v", c.options.Dirs.State, syscall.ENOSPC).
		WithHint("free space on its file system, then retry; running sessions continue, and no saved data is lost")}
}

// firstStartDiskFullError returns diskFullError for the first start of a daemon, before a keeper is started.
func (c *Client) firstStartDiskFullError() error {
	if st, err := os.Stat(c.options.Dirs.Database()); err == nil && st.Size() > 0 {
		return nil // a daemon continues with the existing files
	}
	return c.diskFullError(nil)
}

// stoppedByUserError returns an error if the user stopped longterm since this client was made; the client then starts
// nothing.
func (c *Client) stoppedByUserError() error {
	if !c.options.IsOneCommand || c.options.Remote != nil {
		return nil
	}
	b, err := os.ReadFile(c.options.Dirs.Stopped())
	if err != nil {
		return nil // not stopped, or started again since
	}
	if at, err := time.Parse(time.RFC3339Nano, string(b)); err != nil || at.Before(c.created) {
		return nil
	}
	return api.Errorf(api.CodeUnavailable, "longterm was ended, with all its sessions (`longterm daemon stop --kill-sessions`)").
		WithHint("any command starts it again")
}

// explainStopped replaces an unavailability error by the reason if the user stopped longterm.
func (c *Client) explainStopped(err error) error {
	if isUnavailable(err) {
		if stopped := c.stoppedByUserError(); stopped != nil {
			return stopped
		}
	}
	return err
}

// permanentError is a permanent reason for a missing daemon, which is not retried: another user serves the socket, or the
// disk is full.
type permanentError struct{ err *api.Error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

// isPermanent reports whether err must not be retried.
func isPermanent(err error) bool {
	var final *permanentError
	return errors.As(err, &final)
}

// newForeignSocketError returns the error of a socket that another user serves.
func newForeignSocketError(err error) error {
	return &permanentError{api.Errorf(api.CodeUnavailable, "%v", err).
		WithHint("set %s to a directory that you own; the owner of this one could read your sessions", paths.EnvDir)}
}

// withKeeperLog appends the last message in the keeper's log to an error.
func withKeeperLog(err error, dirs paths.Dirs) error {
	if line := lastLine(dirs.KeeperLog()); line != "" {
		return fmt.Errorf("%w (%s)", err, line)
	}
	return err
}

// maxDyingTime bounds how long a killed process may hold its socket.
const maxDyingTime = 2 * time.Second

// isDyingKeeper reports whether the connection was accepted and then lost, most likely by a killed process whose socket
// is not yet closed.
func isDyingKeeper(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF)
}

// mainKeeper connects to the main keeper, and starts it if it does not run.
func (c *Client) mainKeeper() (*link.Link, error) {
	socket := c.options.Dirs.KeeperSocket(paths.MainKeeper)
	l, err := link.Dial(socket, wire.RoleTool, c.options.Build(), nil)
	for until := time.Now().Add(maxDyingTime); isDyingKeeper(err) && time.Now().Before(until); {
		time.Sleep(2 * time.Millisecond)
		l, err = link.Dial(socket, wire.RoleTool, c.options.Build(), nil)
	}
	if err == nil {
		return l, nil
	}
	if !isNotServed(err) {
		return nil, err
	}
	err = launch.StartKeeper(c.options.Program, c.options.KeeperArgv(), c.options.Dirs.KeeperLog())
	if err != nil && !errors.Is(err, launch.ErrRunning) {
		return nil, err
	}
	return c.dialRunningKeeper(socket)
}

// dialRunningKeeper connects to a keeper that runs. A running keeper soon creates a removed socket again.
func (c *Client) dialRunningKeeper(socket string) (*link.Link, error) {
	for until := time.Now().Add(3 * launch.WatchInterval); ; {
		l, err := link.Dial(socket, wire.RoleTool, c.options.Build(), nil)
		if err == nil || !isNotServed(err) {
			return l, err
		}
		if time.Now().After(until) {
			if elsewhere := launch.HolderSocket(c.options.Dirs.KeeperStateLock(paths.MainKeeper)); elsewhere != "" && elsewhere != socket {
				return nil, fmt.Errorf("longterm runs already, with its runtime directory in %s and not in %s: set XDG_RUNTIME_DIR as it was when it was started (%w)",
					filepath.Dir(filepath.Dir(elsewhere)), c.options.Dirs.Run, err)
			}
			return nil, err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// acquireLock locks a file among clients. It waits until the lock is free, or ctx ends.
func acquireLock(ctx context.Context, path string) (unlock func(), err error) {
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
			<-locked // the lock is released at once
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

// flock locks a file, again after interrupts.
func flock(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
