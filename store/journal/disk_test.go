package journal

import (
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// disk is a file system that fails on demand. A nil hook succeeds.
type disk struct {
	osFS
	mu sync.Mutex
	// write returns how many bytes of a write reach the file before err.
	write    func(name string, p []byte) (n int, err error)
	truncate func(name string) error
	create   func(name string) error
	remove   func(name string) error
	sync     func(name string) error
	opening  func(name string)
	closing  func(name string)
	renamed  func() // after it was done
	measured func() // called after a file's size was read
	opened   int    // files open now
	synced   []string
}

func (d *disk) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	d.mu.Lock()
	create, opening := d.create, d.opening
	d.mu.Unlock()
	if opening != nil {
		opening(name)
	}
	if create != nil && perm != 0 {
		if err := create(name); err != nil {
			return nil, err
		}
	}
	f, err := d.osFS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.opened++
	d.mu.Unlock()
	return &diskFile{f, d, name}, nil
}

func (d *disk) Remove(name string) error {
	if d.remove != nil {
		if err := d.remove(name); err != nil {
			return err
		}
	}
	return d.osFS.Remove(name)
}

func (d *disk) Rename(from, to string) error {
	err := d.osFS.Rename(from, to)
	if d.renamed != nil {
		d.renamed()
	}
	return err
}

func (d *disk) open() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.opened
}

type diskFile struct {
	File
	d    *disk
	name string
}

func (f *diskFile) WriteAt(p []byte, at int64) (int, error) {
	if f.d.write == nil {
		return f.File.WriteAt(p, at)
	}
	n, err := f.d.write(f.name, p)
	if n > 0 {
		if _, werr := f.File.WriteAt(p[:n], at); werr != nil {
			return 0, errors.Join(err, werr)
		}
	}
	return n, err
}

func (f *diskFile) Stat() (fs.FileInfo, error) {
	st, err := f.File.Stat()
	if f.d.measured != nil {
		f.d.measured()
	}
	return st, err
}

func (f *diskFile) Truncate(size int64) error {
	if f.d.truncate != nil {
		if err := f.d.truncate(f.name); err != nil {
			return err
		}
	}
	return f.File.Truncate(size)
}

func (f *diskFile) Sync() error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	f.d.synced = append(f.d.synced, f.name)
	if f.d.sync != nil {
		return f.d.sync(f.name)
	}
	return nil
}

func (f *diskFile) Close() error {
	f.d.mu.Lock()
	f.d.opened--
	f.d.mu.Unlock()
	if f.d.closing != nil {
		f.d.closing(f.name)
	}
	return f.File.Close()
}

// epoch is the start time of tests; their clock advances a second with every reading.
var epoch = time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)

func testOptions() Options {
	var readings, ids atomic.Int64 // used by compaction and by appends
	return Options{
		FS:      &disk{}, // it syncs nothing: a busy disk would make the tests slow
		Now:     func() time.Time { return epoch.Add(time.Duration(readings.Add(1)-1) * time.Second) },
		id:      func() uint32 { return 0xC0FFEE00 + uint32(ids.Add(1)) },
		handles: &handles{max: 4},
	}
}

func open(t testing.TB, dir string, o Options) *Journal {
	t.Helper()
	j, rec := reopen(t, dir, o)
	if rec.Reason != "" {
		t.Fatalf("recovery: %+v", rec)
	}
	return j
}

func reopen(t testing.TB, dir string, o Options) (*Journal, Recovery) {
	t.Helper()
	j, rec, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j, rec
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
