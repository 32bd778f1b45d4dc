// Package atomicfile replaces a file's content in one step: readers see the old content or the new, never a part of it,
// also after a crash.
//
//	open PATH.tmp → write → [sync it] → close → rename to PATH → [sync the directory]
//
// All of longterm replaces files by it, except the journal, which uses its own tested file system.
// pending.go writes content that arrives in parts, under a name that is free. A caller chooses
// what survives a loss of power (Sync), and whether other processes may write the same file (Options.Shared). The
// package has no state and takes no lock. A failed write leaves the old content, and removes its temporary file if
// possible.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Sync selects what a write waits for. The end of a process never damages a file; a loss of power may.
type Sync uint8

const (
	// NoSync waits for nothing. After a loss of power the content may be old, or damaged on file systems that rename
	// before they write. Use it for content that can be recreated.
	NoSync Sync = iota
	// Content syncs the content before the rename: after a loss of power the file has the old or the new content.
	Content
	// ContentAndName syncs the directory too, so that the new name survives.
	ContentAndName
)

// Options control a write. The zero value is for a file of one process whose loss is acceptable.
type Options struct {
	Sync Sync
	Mode fs.FileMode // of the new file; 0: 0600
	// Shared allows other processes to write the file at the same time. Then the temporary file has a unique name and
	// stays after a crash. Otherwise it is PATH.tmp, which the next write overwrites.
	Shared bool
}

// Write replaces or creates the file at path with the concatenated parts. Its directory must exist. A symbolic link is
// replaced, not followed.
func Write(path string, o Options, parts ...[]byte) error { return disk{}.write(path, o, parts) }

// file is the interface of a file being written.
type file interface {
	Write(p []byte) (int, error)
	Chmod(mode fs.FileMode) error
	Sync() error
	Close() error
	Name() string
}

// disk is the file system. Tests use one that fails.
type disk struct {
	wrap   func(*os.File) file // nil: the file itself
	rename func(from, to string) error
}

// write implements Write.
func (d disk) write(path string, o Options, parts [][]byte) error {
	if o.Mode == 0 {
		o.Mode = 0o600
	}
	f, err := d.open(path, o)
	if err != nil {
		return err
	}
	if err := errors.Join(fill(f, o, parts), f.Close()); err != nil {
		return errors.Join(err, removeIfExists(f.Name()))
	}
	rename := d.rename
	if rename == nil {
		rename = os.Rename
	}
	if err := rename(f.Name(), path); err != nil {
		return errors.Join(err, removeIfExists(f.Name()))
	}
	if o.Sync == ContentAndName {
		return d.syncDir(filepath.Dir(path))
	}
	return nil
}

func (d disk) open(path string, o Options) (file, error) {
	var f *os.File
	var err error
	if o.Shared {
		f, err = os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*.tmp")
	} else {
		f, err = os.OpenFile(path+".tmp", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, o.Mode)
	}
	if err != nil {
		return nil, err
	}
	return d.wrapFile(f), nil
}

// wrapFile returns f, or the test's wrapper of it.
func (d disk) wrapFile(f *os.File) file {
	if d.wrap == nil {
		return f
	}
	return d.wrap(f)
}

// fill writes the content and syncs it if required.
func fill(f file, o Options, parts [][]byte) error {
	if err := f.Chmod(o.Mode); err != nil { // overrides the umask and the mode of a crash's remains
		return err
	}
	for _, p := range parts {
		if _, err := f.Write(p); err != nil {
			return err
		}
	}
	if o.Sync == NoSync {
		return nil
	}
	return f.Sync()
}

// syncDir syncs a directory's names. It ignores systems that do not support this.
func (d disk) syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	w := d.wrapFile(f)
	err = w.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrInvalid) {
		err = nil
	}
	return errors.Join(err, w.Close())
}

func removeIfExists(name string) error {
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
