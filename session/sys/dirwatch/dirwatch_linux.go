package dirwatch

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// eventMask selects the events (inotify(7)). A write counts once its file is closed: a database writes often and stays open.
const eventMask = unix.IN_CREATE | unix.IN_CLOSE_WRITE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
	unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR

// watch is the state of a Watcher.
type watch struct {
	file     *os.File
	dirs     []string
	changed  func()
	watchIDs map[string]int // watch id by directory; the kernel has one per inode
}

// start implements Watch.
func start(changed func(), dirs []string) (*Watcher, error) {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("watch directories: %w", err)
	}
	w := &Watcher{watch{file: os.NewFile(uintptr(fd), "inotify"), dirs: dirs, changed: changed, watchIDs: map[string]int{}}}
	if err := w.Reresolve(); err != nil {
		w.Close()
		return nil, err
	}
	go w.readEvents()
	return w, nil
}

// Close ends the watch in the background, since the kernel takes about 10 ms for it.
func (w *watch) Close() { go func() { _ = w.file.Close() }() }

// Reresolve re-resolves the directories' paths, on one goroutine at a time: for directories created later, or replaced
// after a move or removal. Unchanged ones cost one call each.
func (w *watch) Reresolve() error {
	raw, err := w.file.SyscallConn()
	if err != nil {
		return err
	}
	cerr := raw.Control(func(fd uintptr) {
		for _, dir := range w.dirs {
			err = errors.Join(err, w.updateWatch(int(fd), dir))
		}
	})
	return errors.Join(err, cerr)
}

// updateWatch moves a directory's watch to the inode that its path now refers to.
func (w *watch) updateWatch(fd int, dir string) error {
	oldID, known := w.watchIDs[dir]
	newID, err := unix.InotifyAddWatch(fd, dir, eventMask)
	switch {
	case err == nil && known && newID == oldID:
		return nil
	case err == nil:
		w.watchIDs[dir] = newID
	case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EACCES):
		delete(w.watchIDs, dir)
	default:
		return fmt.Errorf("watch %s: %w", dir, err)
	}
	if known && !w.isInUse(oldID) {
		_, _ = unix.InotifyRmWatch(fd, uint32(oldID)) // the kernel did so already if the directory was removed
	}
	return nil
}

// isInUse reports whether a directory uses a watch id.
func (w *watch) isInUse(number int) bool {
	for _, n := range w.watchIDs {
		if n == number {
			return true
		}
	}
	return false
}

// readEvents calls changed for every read of events until the file is closed.
func (w *watch) readEvents() {
	buf := make([]byte, unix.SizeofInotifyEvent+unix.NAME_MAX+1) // the largest event; its content does not matter
	for {
		if _, err := w.file.Read(buf); err != nil {
			return // closed
		}
		w.changed()
	}
}
