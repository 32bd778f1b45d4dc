package journal

import (
	"io"
	"io/fs"
	"os"
	"runtime"
)

// FS is the part of a file system that a journal uses. Tests provide failing ones.
type FS interface {
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	ReadDir(dir string) ([]fs.DirEntry, error) // sorted by name
	MkdirAll(dir string, perm fs.FileMode) error
	Rename(from, to string) error
	Remove(name string) error
}

// File is an open segment, or a directory to be synced.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Stat() (fs.FileInfo, error)
	Truncate(size int64) error
	Sync() error
}

// osFS is the operating system's file system.
type osFS struct{}

func (osFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err // not a File that holds a nil pointer
	}
	return f, nil
}

func (osFS) ReadDir(dir string) ([]fs.DirEntry, error)   { return os.ReadDir(dir) }
func (osFS) MkdirAll(dir string, perm fs.FileMode) error { return os.MkdirAll(dir, perm) }
func (osFS) Rename(from, to string) error                { return os.Rename(from, to) }
func (osFS) Remove(name string) error                    { return os.Remove(name) }

// syncPath syncs a file, or the names in a directory.
func syncPath(fsys FS, path string, flag int) error {
	f, err := fsys.OpenFile(path, flag, 0)
	if err != nil {
		return err
	}
	err = f.Sync()
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

func syncDir(fsys FS, dir string) error {
	if runtime.GOOS == "windows" {
		return nil // NTFS journals names by itself and directories cannot be synced
	}
	return syncPath(fsys, dir, os.O_RDONLY)
}
