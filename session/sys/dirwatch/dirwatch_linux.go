package dirwatch

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// mask is what is told of (inotify(7)). Writes are once the file is closed: a database's are many, and it stays open.
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
	if err := w.Again(); err != nil {
		w.Close()
		return nil, err
	}
	go w.read()
	return w, nil
}

// Close ends it, a little later: the kernel takes some 10 ms to forget what is watched, for which nobody has to wait.
func (w *watch) Close() { go func() { _ = w.file.Close() }() }

// Again watches what the directories' paths mean now, for one goroutine at a time: a directory that was made since, or another one
// in the place of what was moved or removed, perhaps with all above it. Where they are the same it is one call for each.
func (w *watch) Again() error {
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

// follow has a directory's watch be of the inode that its path means.
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
		_, _ = unix.InotifyRmWatch(fd, uint32(was)) // the kernel has done so if the directory is gone
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
	buf := make([]byte, unix.SizeofInotifyEvent+unix.NAME_MAX+1) // the largest event; what they say does not matter
	for {
		if _, err := w.file.Read(buf); err != nil {
			return // it was closed
		}
		w.changed()
	}
}
