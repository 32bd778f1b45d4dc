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
