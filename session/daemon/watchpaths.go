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

// locks make this the only daemon: of the state directory, which decides, and of the runtime
// directory, where older versions look. A system whose state directory cannot have locks has
// to do with the other one.
type locks struct{ state, run *os.File }

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

func (d *Daemon) unlock() {
	for _, f := range []*os.File{d.locks.run, d.locks.state} {
		if f != nil {
			_ = f.Close()
		}
	}
}

// keepPaths makes again what is removed under a daemon that serves: its socket and
// locks. A state directory that is gone is said; nothing brings it back.
func (d *Daemon) keepPaths(srv *http.Server) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() { d.watchPaths(ctx, srv) })
	return func() { cancel(); watching.Wait() }
}

func (d *Daemon) watchPaths(ctx context.Context, srv *http.Server) {
	dirs := d.cfg.Dirs
	socket, _ := os.Lstat(dirs.Socket())
	database, _ := os.Lstat(dirs.Database())
	var moved launch.Moved
	files := d.watchFiles()
	defer files.close()
	tick := d.pace.Ticker(launch.WatchEvery)
	defer tick.Stop()
	for said := error(nil); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C():
		}
		tick.Next()
		files.again()
		d.tcp.follow(d.conf.Get().HTTP.Listen)
		d.web.again()
		d.gate.RuleFile() // what is wrong with it is in the log soon after it was written
		d.gate.Reconsider(ctx)
		d.endOwnKeepers(ctx, time.Now())
		if moved.Waits(dirs.State, d.locks.state, time.Now()) {
			continue
		}
		d.stateIs(database == nil || same(dirs.Database(), database))
		if same(dirs.Socket(), socket) && d.locksAreThere() {
			continue
		}
		if _, err := os.Lstat(dirs.State); err != nil && !d.reg.AnyRuns() {
			continue // all was removed, and there is nothing to be found
		}
		err := d.servePathsAgain(srv, socket)
		if err == nil {
			socket, err = os.Lstat(dirs.Socket())
		}
		if err == nil || said == nil || err.Error() != said.Error() {
			d.log.Warn("the socket or a lock was removed", "socket", dirs.Socket(), "made again", err == nil, "err", err)
		}
		said = err
	}
}

// stirred has the daemon look at things more often once somebody asks for something.
func (d *Daemon) stirred(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.pace.Stir()
		h.ServeHTTP(w, r)
	})
}

// watchedFiles are those that a daemon at rest is told of when they change, and looks at every second otherwise.
type watchedFiles struct {
	d *Daemon
	w *dirwatch.Watcher // nil: it is not told
}

func (d *Daemon) watchFiles() *watchedFiles {
	dirs := d.cfg.Dirs
	w, err := dirwatch.Watch(d.pace.Stir, dirs.Run, dirs.State, dirs.Locks(), dirs.Config)
	if err != nil {
		d.log.Info("files are looked at every second", "why", err)
		return &watchedFiles{d: d}
	}
	d.pace.MayRest(true)
	return &watchedFiles{d, w}
}

// again watches what the directories are now.
func (f *watchedFiles) again() {
	if f.w == nil {
		return
	}
	if err := f.w.Again(); err != nil {
		f.d.log.Warn("files are looked at every second from here on", "why", err)
		f.close()
	}
}

func (f *watchedFiles) close() {
	if f.w != nil {
		f.d.pace.MayRest(false)
		f.w.Close()
		f.w = nil
	}
}

// stateIs notes whether the state directory is the one that this daemon began with. One that was moved away may come
// back.
func (d *Daemon) stateIs(there bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	dir := d.cfg.Dirs.State
	switch {
	case there && d.stateGone != "":
		d.stateGone = ""
		d.log.Info("the state directory is back", "dir", dir)
	case !there && d.stateGone == "":
		d.stateGone = fmt.Sprintf("the state directory %s was removed or replaced: what sessions print is kept no more; "+
			"run `longterm daemon restart`, sessions go on without what they printed before", dir)
		d.log.Warn(d.stateGone)
	}
}

// locksAreThere says that other daemons find ours. What never had one in the state directory has to do without.
func (d *Daemon) locksAreThere() bool {
	dirs := d.cfg.Dirs
	return isFile(d.locks.run, dirs.DaemonLock()) && (d.locks.state == nil || isFile(d.locks.state, dirs.DaemonStateLock()))
}

// servePathsAgain makes directories, locks and, where it is not the one that was there, the socket. The old socket is
// closed with the server.
func (d *Daemon) servePathsAgain(srv *http.Server, socket os.FileInfo) error {
	if err := d.cfg.Dirs.Make(); err != nil {
		return err
	}
	if err := d.lockAll(); err != nil {
		return err
	}
	if same(d.cfg.Dirs.Socket(), socket) {
		return nil
	}
	l, err := d.listen()
	if err != nil {
		return err
	}
	go func() { _ = srv.Serve(l) }() // ends with the server
	return nil
}

// same reports whether path still names the file it named.
func same(path string, was os.FileInfo) bool {
	now, err := os.Lstat(path)
	return err == nil && was != nil && os.SameFile(now, was)
}

func isFile(f *os.File, path string) bool {
	if f == nil {
		return false
	}
	st, err := f.Stat()
	return err == nil && same(path, st)
}

// clearLost removes what a session's own keeper left that was killed, unless it was started again meanwhile. The main one's
// files are there for the next.
func (d *Daemon) clearLost(key string) {
	d.launching.Lock() // nobody starts it now
	defer d.launching.Unlock()
	d.mu.Lock()
	again := d.keepers[key] != nil
	d.mu.Unlock()
	if again || key == paths.MainKeeper || !keeperEnded(d.cfg.Dirs, key) {
		return
	}
	if err := d.clearKeeper(key); err != nil {
		d.log.Warn("what a keeper left was not removed", "keeper", key, "err", err)
	}
}

// clearKeeper removes what a keeper that was killed left in our directories.
func (d *Daemon) clearKeeper(key string) error {
	err := os.Remove(d.cfg.Dirs.KeeperSocket(key))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, launch.RemoveLock(d.cfg.Dirs.KeeperLock(key)), launch.RemoveLock(d.cfg.Dirs.KeeperStateLock(key)))
}
