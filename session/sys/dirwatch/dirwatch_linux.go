package dirwatch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// mask is what is told of (inotify(7)). Writes are once the file is closed: a database's are many, and it stays open.
const mask = unix.IN_CREATE | unix.IN_CLOSE_WRITE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
	unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR

// ends are the events after which a directory, or what is told of it, is not what it was.
const ends = unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_IGNORED | unix.IN_Q_OVERFLOW

type watch struct {
	file    *os.File
	dirs    []string
	changed func()
	partial atomic.Bool // not all directories are watched
}

func start(changed func(), dirs []string) (*Watcher, error) {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("watch directories: %w", err)
	}
	w := &Watcher{watch{file: os.NewFile(uintptr(fd), "inotify"), dirs: dirs, changed: changed}}
	w.partial.Store(true)
	if err := w.Again(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	go w.read()
	return w, nil
}

// Close ends it.
func (w *watch) Close() error { return w.file.Close() }

// Again watches directories that were not there before, or were replaced. It is next to nothing where all are watched.
func (w *watch) Again() error {
	if !w.partial.Swap(false) {
		return nil
	}
	raw, err := w.file.SyscallConn()
	if err != nil {
		return err
	}
	cerr := raw.Control(func(fd uintptr) {
		for _, dir := range w.dirs {
			_, aerr := unix.InotifyAddWatch(int(fd), dir, mask)
			if aerr == nil {
				continue
			}
			w.partial.Store(true)
			if !errors.Is(aerr, unix.ENOENT) && !errors.Is(aerr, unix.ENOTDIR) && !errors.Is(aerr, unix.EACCES) {
				err = fmt.Errorf("watch %s: %w", dir, aerr)
			}
		}
	})
	return errors.Join(err, cerr)
}

func (w *watch) read() {
	buf := make([]byte, unix.SizeofInotifyEvent+unix.NAME_MAX+1) // the largest event
	for {
		n, err := w.file.Read(buf)
		if err != nil {
			return // it was closed
		}
		if ended(buf[:n]) {
			w.partial.Store(true)
		}
		w.changed()
	}
}

// ended says that a directory is among the events that is watched no more.
func ended(events []byte) bool {
	// int wd; uint32_t mask, cookie, len; char name[len]
	for len(events) >= unix.SizeofInotifyEvent {
		if binary.NativeEndian.Uint32(events[4:])&ends != 0 {
			return true
		}
		events = events[min(len(events), unix.SizeofInotifyEvent+int(binary.NativeEndian.Uint32(events[12:]))):]
	}
	return false
}
