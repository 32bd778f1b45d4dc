package program

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/longterm-dev/longterm/store/journal"
)

// historySegments is the number of segments in a Program's journal. The oldest is deleted as a whole.
const historySegments = 8

// retention deletes a journal's oldest output as newer comes. It blocks the writer while Expect has not read the output
// that would be deleted.
type retention struct {
	journal     *journal.Journal
	bytes       int64 // bound of the journal
	sinceRetain int64 // bytes printed since the journal was last trimmed; of the writer

	readOffset atomic.Uint64 // Expect has read the output before it
	readMore   chan struct{} // signals a greater readOffset
	stopped    chan struct{} // closed when reading has ended
}

// newRetention returns the retention of a journal with at most bytes of output.
func newRetention(j *journal.Journal, bytes int64) *retention {
	return &retention{journal: j, bytes: bytes, readMore: make(chan struct{}, 1), stopped: make(chan struct{})}
}

// waitForReader must be called after n more bytes of output, which end at head. It blocks while the reader lags behind,
// and trims the journal.
func (r *retention) waitForReader(n int, head uint64) error {
	for head > r.readOffset.Load()+uint64(r.bytes)/2 {
		select {
		case <-r.readMore:
		case <-r.stopped:
			return nil
		}
	}
	r.sinceRetain += int64(n)
	if r.sinceRetain < r.bytes/historySegments {
		return nil
	}
	r.sinceRetain = 0
	_, err := r.journal.Retain(time.Now(), journal.Retention{MaxBytes: r.bytes})
	return err
}

// release marks the output before off as read.
func (r *retention) release(off uint64) {
	r.readOffset.Store(off)
	wake(r.readMore)
}

// memoryFS is a file system with one directory, for a journal that ends with its process.
type memoryFS struct {
	mu    sync.Mutex
	files map[string]*memoryFile
}

// newMemoryFS returns an empty file system.
func newMemoryFS() *memoryFS { return &memoryFS{files: map[string]*memoryFile{}} }

// OpenFile implements journal.FS.
func (m *memoryFS) OpenFile(name string, flag int, _ fs.FileMode) (journal.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	name = filepath.Base(name)
	f := m.files[name]
	switch {
	case f == nil && filepath.Ext(name) == "": // the directory, opened to sync it
		return &memoryFile{}, nil
	case f == nil && flag&os.O_CREATE == 0:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case f == nil:
		f = &memoryFile{}
		m.files[name] = f
	case flag&os.O_TRUNC != 0:
		_ = f.Truncate(0) // never fails
	}
	return f, nil
}

// ReadDir implements journal.FS.
func (m *memoryFS) ReadDir(string) ([]fs.DirEntry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []fs.DirEntry
	for name, f := range m.files {
		all = append(all, fs.FileInfoToDirEntry(memoryInfo{name, f.size()}))
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all, nil
}

// MkdirAll implements journal.FS.
func (m *memoryFS) MkdirAll(string, fs.FileMode) error { return nil }

// Rename implements journal.FS.
func (m *memoryFS) Rename(from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	from, to = filepath.Base(from), filepath.Base(to)
	f := m.files[from]
	if f == nil {
		return &fs.PathError{Op: "rename", Path: from, Err: fs.ErrNotExist}
	}
	delete(m.files, from)
	m.files[to] = f
	return nil
}

// Remove implements journal.FS.
func (m *memoryFS) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	name = filepath.Base(name)
	if m.files[name] == nil {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
	}
	delete(m.files, name)
	return nil
}

// memoryBlock is the unit in which files grow, in bytes: a growing slice would be copied, with twice the memory.
const memoryBlock = 64 << 10

// memoryFile is a file, and also each handle of it.
type memoryFile struct {
	mu     sync.RWMutex
	blocks []*[memoryBlock]byte
	length int64
}

func (f *memoryFile) size() int64 {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.length
}

func (f *memoryFile) ReadAt(p []byte, at int64) (int, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	n := 0
	for n < len(p) && at < f.length {
		block := f.blocks[at/memoryBlock]
		from := at % memoryBlock
		c := copy(p[n:], block[from:min(memoryBlock, from+f.length-at)])
		n, at = n+c, at+int64(c)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memoryFile) WriteAt(p []byte, at int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for n := 0; n < len(p); {
		for at/memoryBlock >= int64(len(f.blocks)) {
			f.blocks = append(f.blocks, new([memoryBlock]byte))
		}
		c := copy(f.blocks[at/memoryBlock][at%memoryBlock:], p[n:])
		n, at = n+c, at+int64(c)
	}
	f.length = max(f.length, at)
	return len(p), nil
}

func (f *memoryFile) Truncate(size int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if size >= f.length {
		return nil // a journal only shortens files
	}
	f.length = size
	f.blocks = f.blocks[:(size+memoryBlock-1)/memoryBlock]
	if rest := size % memoryBlock; rest > 0 {
		clear(f.blocks[len(f.blocks)-1][rest:])
	}
	return nil
}

func (f *memoryFile) Stat() (fs.FileInfo, error) { return memoryInfo{"", f.size()}, nil }
func (f *memoryFile) Sync() error                { return nil }
func (f *memoryFile) Close() error               { return nil }

// memoryInfo implements fs.FileInfo.
type memoryInfo struct {
	name string
	size int64
}

func (i memoryInfo) Name() string     { return i.name }
func (i memoryInfo) Size() int64      { return i.size }
func (memoryInfo) Mode() fs.FileMode  { return 0o600 }
func (memoryInfo) ModTime() time.Time { return time.Time{} }
func (memoryInfo) IsDir() bool        { return false }
func (memoryInfo) Sys() any           { return nil }
