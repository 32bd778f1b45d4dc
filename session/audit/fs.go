package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// FS is what a log needs of a file system. Tests put failing disks behind it.
type FS interface {
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	ReadDir(dir string) ([]fs.DirEntry, error)
	MkdirAll(dir string, perm fs.FileMode) error
	Remove(name string) error
	Lstat(name string) (fs.FileInfo, error)
}

// File is an open segment, the head's, or a directory that is synced.
type File interface {
	io.Reader
	io.ReaderAt
	io.WriterAt
	io.Closer
	Stat() (fs.FileInfo, error)
	Truncate(size int64) error
	Sync() error
}

type osFS struct{}

// errNoFile is of a name in the log's directory that is a FIFO, a device or a link: nothing of ours is, and reading it
// may never end.
var errNoFile = errors.New("it is no regular file; move it out of the log's directory")

func (osFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("%w (%v)", errNoFile, info.Mode().Type())}
	}
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err // not a File that holds a nil pointer
	}
	return f, nil
}

func (osFS) ReadDir(dir string) ([]fs.DirEntry, error)   { return os.ReadDir(dir) }
func (osFS) Remove(name string) error                    { return os.Remove(name) }
func (osFS) Lstat(name string) (fs.FileInfo, error)      { return os.Lstat(name) }
func (osFS) MkdirAll(dir string, perm fs.FileMode) error { return os.MkdirAll(dir, perm) }

func readFile(fsys FS, path string) ([]byte, error) {
	f, err := fsys.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return b, err
}

// syncDir makes names in a directory outlive a loss of power.
func syncDir(fsys FS, dir string) error {
	if runtime.GOOS == "windows" {
		return nil // NTFS journals names by itself and directories cannot be synced
	}
	f, err := fsys.OpenFile(dir, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	err = f.Sync()
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// segment is a file of records.
type segment struct {
	path  string
	first uint64 // number of its first record
}

const segmentExt = ".jsonl"

func segmentPath(dir string, first uint64) string {
	return filepath.Join(dir, segmentName(first))
}

func segmentName(first uint64) string {
	n := strconv.FormatUint(first, 10)
	return strings.Repeat("0", 20-len(n)) + n + segmentExt
}

// segments lists a log's segments, oldest first. A missing directory has none.
func segments(fsys FS, dir string) ([]segment, error) {
	entries, err := fsys.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil, nil
	}
	var all []segment
	for _, e := range entries {
		number, ok := strings.CutSuffix(e.Name(), segmentExt)
		if first, perr := strconv.ParseUint(number, 10, 63); ok && perr == nil && e.Name() == segmentName(first) {
			all = append(all, segment{filepath.Join(dir, e.Name()), first})
		}
	}
	slices.SortFunc(all, func(a, b segment) int {
		if a.first < b.first {
			return -1
		}
		return 1
	})
	return all, err
}
