//go:build unix

package daemon

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/launch"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/sys/dirwatch"
)

// locks holds the locks that make this the only daemon: that of the state directory, which decides, and that of the
// runtime directory, which older versions check. If the state directory does not support locks, only the other is used.
type locks struct{ state, run *os.File }

// lockAll takes both locks.
func (d *Daemon) lockAll() error {
	state, err := launch.Relock(d.locks.state, d.cfg.Dirs.DaemonStateLock())
	if errors.Is(err, launch.ErrRunning) {
		return err
	}
	if err != nil {
		d.log.Warn("no lock in the state directory", "err", err)
	}
	d.locks.state = state
	d.locks.run, err = launch.Relock(d.locks.run, d.cfg.Dirs.DaemonLock())
	return err
}

// unlock releases both locks.
func (d *Daemon) unlock() {
	for _, f := range []*os.File{d.locks.run, d.locks.state} {
		if f != nil {
			_ = f.Close()
		}
	}
}

// keepPaths recreates the daemon's socket and locks if they are removed. It reports a removed state directory, which
// cannot be recreated.
func (d *Daemon) keepPaths(srv *http.Server) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() { d.watchPaths(ctx, srv) })
	return func() { cancel(); watching.Wait() }
}

// watchPaths checks socket and locks until ctx ends.
func (d *Daemon) watchPaths(ctx context.Context, srv *http.Server) {
	dirs := d.cfg.Dirs
	socket, _ := os.Lstat(dirs.Socket())
	database, _ := os.Lstat(dirs.Database())
	var moved launch.MoveTracker
	files := d.watchFiles()
	defer files.close()
	tick := d.poller.Ticker(launch.WatchInterval)
	defer tick.Stop()
	for said := error(nil); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C():
		}
		tick.Next()
		files.rewatch()
		d.tcp.setAddress(d.conf.Get().HTTP.Listen)
		d.web.retryListen()
		d.gate.RuleFile() // what is wrong with it is in the log soon after it was written
		d.gate.Reconsider(ctx)
		d.endOwnKeepers(ctx, time.Now())
		if moved.ShouldWait(dirs.State, d.locks.state, time.Now()) {
			continue
		}
		d.setStatePresent(database == nil || isSameFile(dirs.Database(), database))
		if isSameFile(dirs.Socket(), socket) && d.locksExist() {
			continue
		}
		if _, err := os.Lstat(dirs.State); err != nil && !d.reg.AnyRuns() {
			continue // all removed: nothing to check
		}
		err := d.restorePaths(srv, socket)
		if err == nil {
			socket, err = os.Lstat(dirs.Socket())
		}
		if err == nil || said == nil || err.Error() != said.Error() {
			d.log.Warn("the socket or a lock was removed", "socket", dirs.Socket(), "made again", err == nil, "err", err)
		}
		said = err
	}
}

// withActivity resets the polling interval at each request.
func (d *Daemon) withActivity(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.poller.NoteActivity()
		h.ServeHTTP(w, r)
	})
}

// watchedFiles are files whose changes an idle daemon is notified of. Without notification it polls them every second.
type watchedFiles struct {
	d *Daemon
	w *dirwatch.Watcher // nil without notifications
}

// watchFiles starts watching the daemon's files.
func (d *Daemon) watchFiles() *watchedFiles {
	dirs := d.cfg.Dirs
	w, err := dirwatch.Watch(d.poller.NoteActivity, dirs.Run, dirs.State, dirs.Locks(), dirs.Config)
	if err != nil {
		d.log.Info("files are looked at every second", "why", err)
		return &watchedFiles{d: d}
	}
	d.poller.AllowIdle(true)
	return &watchedFiles{d, w}
}

// rewatch watches the current directories.
func (f *watchedFiles) rewatch() {
	if f.w == nil {
		return
	}
	if err := f.w.Reresolve(); err != nil {
		f.d.log.Warn("files are looked at every second from here on", "why", err)
		f.close()
	}
}

func (f *watchedFiles) close() {
	if f.w != nil {
		f.d.poller.AllowIdle(false)
		f.w.Close()
		f.w = nil
	}
}

// setStatePresent records whether the state directory is the one from the start. A moved one may come back.
func (d *Daemon) setStatePresent(there bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	dir := d.cfg.Dirs.State
	switch {
	case there && d.stateProblem != "":
		d.stateProblem = ""
		d.log.Info("the state directory is back", "dir", dir)
	case !there && d.stateProblem == "":
		d.stateProblem = fmt.Sprintf("state directory %s was removed or replaced; output is no longer stored: "+
			"run `longterm daemon restart`; sessions continue without their earlier output", dir)
		d.log.Warn(d.stateProblem)
	}
}

// locksExist reports whether other daemons find our locks. A state directory that never had one is skipped.
func (d *Daemon) locksExist() bool {
	dirs := d.cfg.Dirs
	return isFile(d.locks.run, dirs.DaemonLock()) && (d.locks.state == nil || isFile(d.locks.state, dirs.DaemonStateLock()))
}

// restorePaths recreates directories, locks and, if it was replaced, the socket. The old socket closes with the server.
func (d *Daemon) restorePaths(srv *http.Server, socket os.FileInfo) error {
	if err := d.cfg.Dirs.Make(); err != nil {
		return err
	}
	if err := d.lockAll(); err != nil {
		return err
	}
	if isSameFile(d.cfg.Dirs.Socket(), socket) {
		return nil
	}
	l, err := d.listen()
	if err != nil {
		return err
	}
	go func() { _ = srv.Serve(l) }() // ends with the server
	return nil
}

// isSameFile reports whether path still names the file it named.
func isSameFile(path string, was os.FileInfo) bool {
	now, err := os.Lstat(path)
	return err == nil && was != nil && os.SameFile(now, was)
}

// isFile reports whether path names an open file.
func isFile(f *os.File, path string) bool {
	if f == nil {
		return false
	}
	st, err := f.Stat()
	return err == nil && isSameFile(path, st)
}

// clearLost removes the files of a killed keeper of a single session, unless it was restarted since. The main
// keeper's files stay for the next one.
func (d *Daemon) clearLost(key string) {
	d.launchMu.Lock() // prevents its start
	defer d.launchMu.Unlock()
	d.mu.Lock()
	again := d.keepers[key] != nil
	d.mu.Unlock()
	if again || key == paths.MainKeeper || !keeperEnded(d.cfg.Dirs, key) {
		return
	}
	if err := d.clearKeeper(key); err != nil {
		d.log.Warn("remove a keeper's files", "keeper", key, "err", err)
	}
}

// clearKeeper removes the files of a killed keeper.
func (d *Daemon) clearKeeper(key string) error {
	err := os.Remove(d.cfg.Dirs.KeeperSocket(key))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, launch.RemoveLock(d.cfg.Dirs.KeeperLock(key)), launch.RemoveLock(d.cfg.Dirs.KeeperStateLock(key)))
}
