//go:build unix

package rulebook

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// openFlags open a file of any kind without waiting: a pipe without a writer too.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_CLOEXEC | syscall.O_NOCTTY

// identity tells a file from the one that was there before it.
type identity struct {
	dev, ino    uint64
	size        int64
	mtime, ctim int64
}

func identityOf(st fs.FileInfo) identity {
	id := identity{size: st.Size(), mtime: st.ModTime().UnixNano()}
	if s, ok := st.Sys().(*syscall.Stat_t); ok {
		id.dev, id.ino, id.ctim = uint64(s.Dev), s.Ino, changed(s)
	}
	return id
}

// deviceOf is the file system that a file is on.
func deviceOf(st fs.FileInfo) uint64 { return identityOf(st).dev }

func notDirectory(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// lstat is os.Lstat for who only wants to know whether something is there, at each directory above what is executed.
func lstat(path string) error {
	for {
		var st syscall.Stat_t
		if err := syscall.Lstat(path, &st); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
