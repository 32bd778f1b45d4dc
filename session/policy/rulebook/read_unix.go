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

// identity distinguishes a file from its predecessor.
type identity struct {
	dev, ino    uint64
	size        int64
	mtime, ctim int64
}

// identityOf returns the identity of a file.
func identityOf(st fs.FileInfo) identity {
	id := identity{size: st.Size(), mtime: st.ModTime().UnixNano()}
	if s, ok := st.Sys().(*syscall.Stat_t); ok {
		id.dev, id.ino, id.ctim = uint64(s.Dev), s.Ino, changeTime(s)
	}
	return id
}

// deviceOf returns the number of a file's file system.
func deviceOf(st fs.FileInfo) uint64 { return identityOf(st).dev }

// isNotDirectory reports whether an error means that a parent of a path is no directory.
func isNotDirectory(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// lstat is a fast os.Lstat that only reports existence, for each directory above an executed file.
func lstat(path string) error {
	for {
		var st syscall.Stat_t
		if err := syscall.Lstat(path, &st); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
