package rulebook

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/longterm-dev/longterm/session/policy"
)

// Bounds of path lookups: paths of one judgement, names in its directories, and links to missing files in a row.
const (
	maxLinks    = 2000
	maxEntries  = 1000
	maxDangling = 40
)

// diskCache is what a judgement has looked up.
type diskCache struct {
	known   map[string]string
	entries map[string][]policy.Entry
	read    int // names in directories
}

// NewDisk returns the disk for policy.Line.Real. It looks each path up once; one goroutine may use it.
func NewDisk() policy.Disk {
	return &diskCache{known: map[string]string{}, entries: map[string][]policy.Entry{}}
}

// Resolve returns a path without symbolic links.
func (l *diskCache) Resolve(path string) string {
	to, is := l.known[path]
	if !is && len(l.known) < maxLinks {
		to = RealPath(path)
		l.known[path] = to
	}
	if to == "" {
		return path
	}
	return to
}

// Entries returns the links and directories in a directory. It returns false if it cannot read them, or has read too many.
func (l *diskCache) Entries(dir string) ([]policy.Entry, bool) {
	if entries, is := l.entries[dir]; is {
		return entries, true
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil, errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	all, err := f.ReadDir(maxEntries + 1 - l.read)
	if l.read += len(all); l.read > maxEntries {
		l.read = maxEntries
		return nil, false
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Is(err, syscall.ENOTDIR)
	}
	entries := []policy.Entry{}
	for _, e := range all {
		if link := e.Type()&fs.ModeSymlink != 0; link || e.IsDir() {
			entries = append(entries, policy.Entry{Name: e.Name(), Link: link})
		}
	}
	l.entries[dir] = entries
	return entries, true
}

// RealPath returns an absolute path without symbolic links, as far as it exists. A link to a missing file is followed, too:
// a program that writes to the link creates that file.
func RealPath(path string) string {
	if !filepath.IsAbs(path) || len(path) > 4096 || strings.ContainsRune(path, 0) {
		return path
	}
	return realPath(filepath.Clean(path), maxDangling)
}

// realPath works like RealPath with a bound on the links to missing files.
func realPath(path string, maxSteps int) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	dir := filepath.Dir(path)
	if dir == path || maxSteps == 0 {
		return path
	}
	dir = realPath(dir, maxSteps)
	at := filepath.Join(dir, filepath.Base(path))
	if to, err := os.Readlink(at); err == nil {
		if !filepath.IsAbs(to) {
			to = filepath.Join(dir, to)
		}
		return realPath(filepath.Clean(to), maxSteps-1)
	}
	return at
}
