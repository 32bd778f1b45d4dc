// Package atomicfile replaces a file's content in one step: readers, and whatever is left after a
// crash, have the old content or the new, never a part of it.
//
//	open PATH.tmp → write → [sync it] → close → rename to PATH → [sync the directory]
//
// It is the one way in which longterm replaces a file; the journal alone has its own, through the
// file system that it is tested with. What a caller chooses is how much outlives a loss of power
// (Sync), and whether other processes may be writing the same file (Options.Shared). It knows no
// format, keeps no state and takes no lock. What fails leaves the old content, and no temporary file
// as far as that can be removed.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Sync is what a write waits for. The end of a process never harms a file; a loss of power may.
type Sync uint8

const (
	// NoSync waits for nothing. After a loss of power the content may be the old one, or, on file
	// systems that rename before they write, damaged: for what can be made again, or whose loss is
	// only time.
	NoSync Sync = iota
	// Content is on the disk before its name is: after a loss of power it is the old or the new one.
	Content
	// ContentAndName waits for the directory too: once it is written it is not the old one any more.
	ContentAndName
)

// Options are how a file is written. The zero value is for a file of one process that may be lost.
type Options struct {
	Sync Sync
	Mode fs.FileMode // of the file, whatever it was; 0: 0600
	// Shared: other processes may write the file at the same time. Then the temporary file has a name
	// of its own, and what a crash leaves of it stays; otherwise it is PATH.tmp, and the next write
	// overwrites it.
	Shared bool
}

// Write replaces the content of the file at path, made if it is not there, by the parts, in order. Its
// directory has to be there. A link is replaced, not followed.
func Write(path string, o Options, parts ...[]byte) error { return disk{}.write(path, o, parts) }

// file is what is asked of one that is being written.
type file interface {
	Write(p []byte) (int, error)
	Chmod(mode fs.FileMode) error
	Sync() error
	Close() error
	Name() string
}

// disk is the file system, or in tests one that fails.
type disk struct {
	wrap   func(*os.File) file // nil: the file itself
	rename func(from, to string) error
}

func (d disk) write(path string, o Options, parts [][]byte) error {
	if o.Mode == 0 {
		o.Mode = 0o600
	}
	f, err := d.open(path, o)
	if err != nil {
		return err
	}
	if err := errors.Join(fill(f, o, parts), f.Close()); err != nil {
		return errors.Join(err, removed(f.Name()))
	}
	rename := d.rename
	if rename == nil {
		rename = os.Rename
	}
	if err := rename(f.Name(), path); err != nil {
		return errors.Join(err, removed(f.Name()))
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
	return d.wrapped(f), nil
}

func (d disk) wrapped(f *os.File) file {
	if d.wrap == nil {
		return f
	}
	return d.wrap(f)
}

func fill(f file, o Options, parts [][]byte) error {
	if err := f.Chmod(o.Mode); err != nil { // the umask has no say, nor what a crash left
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

// syncDir has the names in a directory on the disk. Where directories cannot be opened for that the
// system sees to it.
func (d disk) syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	w := d.wrapped(f)
	err = w.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrInvalid) {
		err = nil
	}
	return errors.Join(err, w.Close())
}

func removed(name string) error {
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
