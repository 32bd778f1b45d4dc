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

// listen creates the socket. The lock is ours, so an existing socket belongs to no process.
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
		_ = old.Close() // clients can no longer reach it
	}
	k.socket, _ = os.Lstat(k.cfg.Socket)
	return nil
}

// lockAll makes this the only keeper of its key: it locks the state directory, which decides, and the runtime
// directory, which older versions check.
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

// lockState takes the lock in the state directory. If the directory does not support locks, only the other one is used.
func (k *Keeper) lockState() (*os.File, error) {
	if k.cfg.StateLock == "" {
		return nil, nil
	}
	f, err := launch.Relock(k.stateLock, k.cfg.StateLock)
	if err != nil && !errors.Is(err, launch.ErrRunning) {
		k.log.Warn("no lock in the state directory", "err", err)
		return f, nil
	}
	if err == nil { // for clients with another runtime directory; see Holder
		err = f.Truncate(0)
		if err == nil {
			_, err = f.WriteAt([]byte(k.cfg.Socket), 0)
		}
		if err != nil {
			k.log.Warn("the lock lacks the socket's path", "err", err)
		}
		return f, nil
	}
	return f, err
}

// watchFiles lets the keeper idle while the files that it would check every second are unchanged.
func (k *Keeper) watchFiles() (stop func()) {
	dirs := []string{filepath.Dir(k.cfg.Socket), filepath.Dir(k.cfg.Lock)}
	if k.cfg.StateLock != "" {
		dirs = append(dirs, filepath.Dir(k.cfg.StateLock))
	}
	w, err := dirwatch.Watch(k.poller.NoteActivity, dirs...)
	if err != nil {
		k.log.Info("files are checked every second", "why", err)
		return func() {}
	}
	k.files = w
	k.poller.AllowIdle(true)
	return w.Close
}

// rewatchFiles watches the current directories.
func (k *Keeper) rewatchFiles() {
	if k.files == nil {
		return
	}
	if err := k.files.Reresolve(); err != nil {
		k.log.Warn("files are checked every second from here on", "why", err)
		k.files = nil
		k.poller.AllowIdle(false)
	}
}

// restoreFiles restores removed files of the keeper, so that clients find the sessions.
func (k *Keeper) restoreFiles() {
	k.rewatchFiles()
	away := k.cfg.StateLock != "" && k.movedState.ShouldWait(stateDirOf(k.cfg.StateLock), k.stateLock, time.Now())
	now, err := os.Lstat(k.cfg.Socket)
	if err == nil && (k.socket == nil || os.SameFile(now, k.socket)) && k.hasVisibleLocks() {
		k.socket = now
		return
	}
	if away {
		return // it may return
	}
	if k.cfg.StateLock != "" && isMissing(filepath.Dir(k.cfg.StateLock)) && k.isUnused() {
		return // all files were removed: clients have nothing to find
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
	if text := fmt.Sprint(err); text != k.checkError {
		k.checkError = text
		k.log.Warn("the socket or a lock was removed", "socket", k.cfg.Socket, "made again", err == nil, "err", err)
	}
}

// hasVisibleLocks reports whether other keepers find the locks of this one. Without a lock in the state directory only the
// first counts.
func (k *Keeper) hasVisibleLocks() bool {
	return launch.IsSameFile(k.lock, k.cfg.Lock) && (k.stateLock == nil || launch.IsSameFile(k.stateLock, k.cfg.StateLock))
}

// stateDirOf returns the state directory that contains a lock.
func stateDirOf(lock string) string { return filepath.Dir(filepath.Dir(lock)) }

// isMissing reports whether a path does not exist.
func isMissing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, os.ErrNotExist)
}

// isUnused reports whether the keeper has neither sessions nor peers.
func (k *Keeper) isUnused() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.children) == 0
}

// accept serves connections until the listener is closed.
func (k *Keeper) accept(l *unixsock.Listener) {
	for {
		f, err := l.Accept()
		switch {
		case errors.Is(err, os.ErrClosed):
			return
		case err != nil: // most likely out of descriptors: other peers must not suffer
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
