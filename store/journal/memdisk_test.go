package journal

import (
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// memDisk is a file system in memory with one directory. It separates the state that a process sees from the state
// after a power loss, counts the operations that change something, and fails, or ends the process, at one of them.
//
//	names, inode.data        state that a process sees
//	durable, inode.synced    state that survives a power loss
//	renames, inode.writes    changes that may survive, also in part
type memDisk struct {
	rnd     *rand.Rand
	names   map[string]*inode
	durable map[string]*inode
	renames []func(map[string]*inode) // changes of names since the directory was synced

	ops   int
	fault int   // number of the operation that fails, 0: none
	until int   // last operation that fails
	err   error // the injected error; errDead: for good

	opening func(name string)
}

type inode struct {
	data   []byte
	synced []byte
	writes []func([]byte) []byte // since it was synced
}

var errDead = errors.New("the process is dead")

func newMemDisk(rnd *rand.Rand) *memDisk {
	return &memDisk{rnd: rnd, names: map[string]*inode{}, durable: map[string]*inode{}}
}

// op counts an operation and reports whether it fails.
func (d *memDisk) op() error {
	d.ops++
	if d.fault > 0 && d.ops >= d.fault && (d.ops <= d.until || d.err == errDead) {
		return d.err
	}
	return nil
}

func (d *memDisk) dead() bool { return d.fault > 0 && d.ops >= d.fault && d.err == errDead }

// rename changes names.
func (d *memDisk) rename(change func(map[string]*inode)) error {
	if err := d.op(); err != nil {
		return err
	}
	change(d.names)
	d.renames = append(d.renames, change)
	return nil
}

// killed is the disk as the next process finds it when this one was killed.
func (d *memDisk) killed() *memDisk {
	after := newMemDisk(d.rnd)
	for name, n := range d.names {
		after.put(name, n.data)
	}
	return after
}

// unplugged returns the disk after a power loss: all synced data, and a random part of the rest. strict: nothing of the
// rest.
func (d *memDisk) unplugged(strict bool) *memDisk {
	names := maps.Clone(d.durable)
	if !strict {
		for _, change := range d.renames[:d.rnd.IntN(len(d.renames)+1)] {
			change(names)
		}
	}
	after := newMemDisk(d.rnd)
	for name, n := range names {
		data := slices.Clone(n.synced)
		for _, write := range n.writes {
			if !strict && d.rnd.IntN(2) == 0 {
				data = write(data)
			}
		}
		after.put(name, data)
	}
	return after
}

func (d *memDisk) put(name string, data []byte) {
	n := &inode{data: slices.Clone(data), synced: slices.Clone(data)}
	d.names[name], d.durable[name] = n, n
}

func (d *memDisk) OpenFile(name string, flag int, _ fs.FileMode) (File, error) {
	if d.dead() {
		return nil, errDead
	}
	if !strings.Contains(filepath.Base(name), ".") {
		return memDir{d: d}, nil
	}
	if d.opening != nil {
		d.opening(name)
	}
	n := d.names[name]
	switch {
	case n == nil && flag&os.O_CREATE == 0:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case n == nil:
		n = &inode{}
		if err := d.rename(func(names map[string]*inode) { names[name] = n }); err != nil {
			return nil, err
		}
	}
	h := &memHandle{d: d, n: n}
	if flag&os.O_TRUNC != 0 && len(n.data) > 0 {
		return h, h.Truncate(0)
	}
	return h, nil
}

func (d *memDisk) ReadDir(string) (all []fs.DirEntry, err error) {
	for name, n := range d.names {
		all = append(all, fs.FileInfoToDirEntry(memInfo{filepath.Base(name), int64(len(n.data))}))
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all, nil
}

func (d *memDisk) MkdirAll(string, fs.FileMode) error { return nil }

func (d *memDisk) Rename(from, to string) error {
	return d.rename(func(names map[string]*inode) {
		if n := names[from]; n != nil {
			names[to] = n
			delete(names, from)
		}
	})
}

func (d *memDisk) Remove(name string) error {
	if d.names[name] == nil {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
	}
	return d.rename(func(names map[string]*inode) { delete(names, name) })
}

// memHandle is an open file.
type memHandle struct {
	d *memDisk
	n *inode
}

func (h *memHandle) ReadAt(p []byte, at int64) (int, error) {
	return (&memFile{data: h.n.data}).ReadAt(p, at)
}

// WriteAt writes a part when it fails.
func (h *memHandle) WriteAt(p []byte, at int64) (int, error) {
	err := h.d.op()
	if err != nil {
		if h.d.ops > h.d.fault { // after the first failure: dead, or still full
			return 0, err
		}
		p = p[:h.d.rnd.IntN(len(p)+1)]
	}
	p = slices.Clone(p)
	h.change(func(data []byte) []byte {
		f := memFile{data: data}
		_, _ = f.WriteAt(p, at)
		return f.data
	})
	return len(p), err
}

func (h *memHandle) Truncate(size int64) error {
	if err := h.d.op(); err != nil {
		return err
	}
	// The supported file systems keep sizes in order: earlier writes are cut.
	cut := func(data []byte) []byte { return data[:min(size, int64(len(data)))] }
	h.n.data = cut(h.n.data)
	h.n.synced = slices.Clone(h.n.data)
	h.n.writes = nil
	return nil
}

func (h *memHandle) change(write func([]byte) []byte) {
	h.n.data = write(h.n.data)
	h.n.writes = append(h.n.writes, write)
}

func (h *memHandle) Sync() error {
	if err := h.d.op(); err != nil {
		return err
	}
	h.n.synced, h.n.writes = slices.Clone(h.n.data), nil
	return nil
}

func (h *memHandle) Stat() (fs.FileInfo, error) { return memInfo{"", int64(len(h.n.data))}, nil }
func (h *memHandle) Close() error               { return nil }

// memDir is the directory, to be synced.
type memDir struct {
	File
	d *memDisk
}

func (h memDir) Sync() error {
	if err := h.d.op(); err != nil {
		return err
	}
	h.d.durable, h.d.renames = maps.Clone(h.d.names), nil
	return nil
}

func (h memDir) Close() error { return nil }

type memInfo struct {
	name string
	size int64
}

func (i memInfo) Name() string     { return i.name }
func (i memInfo) Size() int64      { return i.size }
func (memInfo) Mode() fs.FileMode  { return 0o600 }
func (memInfo) ModTime() time.Time { return epoch }
func (memInfo) IsDir() bool        { return false }
func (memInfo) Sys() any           { return nil }
