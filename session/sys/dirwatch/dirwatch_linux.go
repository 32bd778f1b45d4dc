package dirwatch

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// mask selects the events (inotify(7)). A write counts once its file is closed: a database writes often and stays open.
const mask = unix.IN_CREATE | unix.IN_CLOSE_WRITE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
	unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR

type watch struct {
	file    *os.File
	dirs    []string
	changed func()
	watched map[string]int // by directory: the kernel's number of its watch, which is one of an inode
}

func start(changed func(), dirs []string) (*Watcher, error) {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("watch directories: %w", err)
	}
	w := &Watcher{watch{file: os.NewFile(uintptr(fd), "inotify"), dirs: dirs, changed: changed, watched: map[string]int{}}}
	if err := w.Reresolve(); err != nil {
		w.Close()
		return nil, err
	}
	go w.read()
	return w, nil
}

// Close ends the watch in the background: the kernel takes about 10 ms for it.
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
			err = errors.Join(err, w.follow(int(fd), dir))
		}
	})
	return errors.Join(err, cerr)
}

// follow moves a directory's watch to the inode that its path now means.
func (w *watch) follow(fd int, dir string) error {
	was, known := w.watched[dir]
	is, err := unix.InotifyAddWatch(fd, dir, mask)
	switch {
	case err == nil && known && is == was:
		return nil
	case err == nil:
		w.watched[dir] = is
	case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EACCES):
		delete(w.watched, dir)
	default:
		return fmt.Errorf("watch %s: %w", dir, err)
	}
	if known && !w.uses(was) {
		_, _ = unix.InotifyRmWatch(fd, uint32(was)) // the kernel did so if the directory was removed
	}
	return nil
}

func (w *watch) uses(number int) bool {
	for _, n := range w.watched {
		if n == number {
			return true
		}
	}
	return false
}

func (w *watch) read() {
	buf := make([]byte, unix.SizeofInotifyEvent+unix.NAME_MAX+1) // the largest event; its content does not matter
	for {
		if _, err := w.file.Read(buf); err != nil {
			return // it was closed
		}
		w.changed()
	}
}
