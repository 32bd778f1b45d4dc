//go:build unix

package keeper

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/launch"
	"github.com/longterm-dev/longterm/session/sys/dirwatch"
	"github.com/longterm-dev/longterm/session/sys/unixsock"
)

// listen makes the socket. The lock is ours, so one that is there belongs to no process.
func (k *Keeper) listen() error {
	if err := os.Remove(k.cfg.Socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove stale socket: %w", err)
	}
	l, err := unixsock.Listen(k.cfg.Socket)
	if err != nil {
		return err
	}
	if err := os.Chmod(k.cfg.Socket, 0o600); err != nil {
		return errors.Join(err, l.Close())
	}
	k.mu.Lock()
	old := k.listener
	k.listener = l
	k.mu.Unlock()
	if old != nil {
		_ = old.Close() // no client can reach it any more
	}
	k.socket, _ = os.Lstat(k.cfg.Socket)
	return nil
}

// lockAll makes this the only keeper of its key: of the state directory, which decides, and
// of the runtime directory, where older versions look.
func (k *Keeper) lockAll() (err error) {
	state, err := k.lockState()
	if err != nil {
		return err
	}
	lock, err := launch.Relock(k.lock, k.cfg.Lock)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stateLock, k.lock = state, lock
	return err
}

// lockState takes the lock in the state directory. Where the directory cannot have locks the
// other one has to do.
func (k *Keeper) lockState() (*os.File, error) {
	if k.cfg.StateLock == "" {
		return nil, nil
	}
	f, err := launch.Relock(k.stateLock, k.cfg.StateLock)
	if err != nil && !errors.Is(err, launch.ErrRunning) {
		k.log.Warn("no lock in the state directory", "err", err)
		return f, nil
	}
	if err == nil { // for who has another runtime directory; see Holder
		err = f.Truncate(0)
		if err == nil {
			_, err = f.WriteAt([]byte(k.cfg.Socket), 0)
		}
		if err != nil {
			k.log.Warn("the lock does not say where the socket is", "err", err)
		}
		return f, nil
	}
	return f, err
}

// watchFiles has the keeper rest as long as nobody changes what it would look at every second.
func (k *Keeper) watchFiles() (stop func()) {
	dirs := []string{filepath.Dir(k.cfg.Socket), filepath.Dir(k.cfg.Lock)}
	if k.cfg.StateLock != "" {
		dirs = append(dirs, filepath.Dir(k.cfg.StateLock))
	}
	w, err := dirwatch.Watch(k.pace.Stir, dirs...)
	if err != nil {
		k.log.Info("files are looked at every second", "why", err)
		return func() {}
	}
	k.files = w
	k.pace.MayRest(true)
	return w.Close
}

// renewFiles watches what the directories are now.
func (k *Keeper) renewFiles() {
	if k.files == nil {
		return
	}
	if err := k.files.Again(); err != nil {
		k.log.Warn("files are looked at every second from here on", "why", err)
		k.files = nil
		k.pace.MayRest(false)
	}
}

// look has what was removed of ours made again, so that clients find the sessions.
func (k *Keeper) look() {
	k.renewFiles()
	away := k.cfg.StateLock != "" && k.moved.Waits(stateOf(k.cfg.StateLock), k.stateLock, time.Now())
	now, err := os.Lstat(k.cfg.Socket)
	if err == nil && (k.socket == nil || os.SameFile(now, k.socket)) && k.locksAreThere() {
		k.socket = now
		return
	}
	if away {
		return // it may come back
	}
	if k.cfg.StateLock != "" && isGone(filepath.Dir(k.cfg.StateLock)) && k.idle() {
		return // all was removed, and there is nothing to be found
	}
	err = os.MkdirAll(filepath.Dir(k.cfg.Socket), 0o700)
	if err == nil && k.stateLock != nil {
		err = os.MkdirAll(filepath.Dir(k.cfg.StateLock), 0o700)
	}
	if err == nil {
		err = k.lockAll()
	}
	if err == nil && (now == nil || k.socket == nil || !os.SameFile(now, k.socket)) {
		if err = k.listen(); err == nil {
			go k.accept(k.listener)
		}
	}
	if text := fmt.Sprint(err); text != k.lookError {
		k.lookError = text
		k.log.Warn("the socket or a lock was removed", "socket", k.cfg.Socket, "made again", err == nil, "err", err)
	}
}

// locksAreThere says that other keepers find ours. What never had one in the state directory has to do without.
func (k *Keeper) locksAreThere() bool {
	return launch.IsFile(k.lock, k.cfg.Lock) && (k.stateLock == nil || launch.IsFile(k.stateLock, k.cfg.StateLock))
}

// stateOf is the state directory of a lock in it.
func stateOf(lock string) string { return filepath.Dir(filepath.Dir(lock)) }

func isGone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, os.ErrNotExist)
}

func (k *Keeper) idle() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.children) == 0
}

func (k *Keeper) accept(l *unixsock.Listener) {
	for {
		f, err := l.Accept()
		switch {
		case errors.Is(err, os.ErrClosed):
			return
		case err != nil: // out of descriptors, most likely: others must not suffer
			k.log.Error("accept", "err", err)
			time.Sleep(100 * time.Millisecond)
			continue
		}
		uid, pid, err := checkPeer(f)
		if err != nil {
			k.log.Warn("refused a connection", "err", err)
			_ = f.Close()
			continue
		}
		go k.serve(newConn(f, uid, pid))
	}
}
