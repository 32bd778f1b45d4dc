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

// FS is the part of a file system that a log uses. Tests replace it by failing disks.
type FS interface {
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	ReadDir(dir string) ([]fs.DirEntry, error)
	MkdirAll(dir string, perm fs.FileMode) error
	Remove(name string) error
	Lstat(name string) (fs.FileInfo, error)
}

// File is an open segment, head file, or directory.
type File interface {
	io.Reader
	io.ReaderAt
	io.WriterAt
	io.Closer
	Stat() (fs.FileInfo, error)
	Truncate(size int64) error
	Sync() error
}

// osFS is the operating system's file system.
type osFS struct{}

// errNotRegular is the error of a FIFO, device or link in the log's directory: it is not ours, and reading it may never end.
var errNotRegular = errors.New("it is no regular file; move it out of the log's directory")

func (osFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("%w (%v)", errNotRegular, info.Mode().Type())}
	}
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err // not a File with a nil pointer
	}
	return f, nil
}

func (osFS) ReadDir(dir string) ([]fs.DirEntry, error)   { return os.ReadDir(dir) }
func (osFS) Remove(name string) error                    { return os.Remove(name) }
func (osFS) Lstat(name string) (fs.FileInfo, error)      { return os.Lstat(name) }
func (osFS) MkdirAll(dir string, perm fs.FileMode) error { return os.MkdirAll(dir, perm) }

// readFile reads a whole file.
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

// syncDir makes the names in a directory durable.
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

// segmentExt is the suffix of segments.
const segmentExt = ".jsonl"

// segmentPath returns the path of the segment that starts with a record.
func segmentPath(dir string, first uint64) string {
	return filepath.Join(dir, segmentName(first))
}

// segmentName returns its name, which sorts by number.
func segmentName(first uint64) string {
	n := strconv.FormatUint(first, 10)
	return strings.Repeat("0", 20-len(n)) + n + segmentExt
}

// segments lists a log's segments, oldest first. It returns nil for a missing directory.
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
