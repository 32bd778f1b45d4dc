package atomicfile

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Pending is a new file that gets its name once its content is complete. It is for content that arrives in parts and is too
// large for memory:
//
//	Create → Write… → Keep, once or until a name is free → Drop
type Pending struct {
	f      *os.File // nil after Drop, or once it is kept
	synced bool
	closed bool
}

// pendingSuffix ends the names of files that are not complete.
const pendingSuffix = ".part"

// Create creates a file without a final name in dir, which must be on the file system of the final name. The mode is
// subject to the umask. A crash leaves the file, under a hidden name.
func Create(dir string, mode fs.FileMode) (*Pending, error) {
	path := filepath.Join(dir, "."+strings.ToLower(rand.Text()[:13])+pendingSuffix)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, err
	}
	return &Pending{f: f}, nil
}

// Name returns the path of the file while it is not complete.
func (p *Pending) Name() string { return p.f.Name() }

// Write implements io.Writer.
func (p *Pending) Write(b []byte) (int, error) { return p.f.Write(b) }

// Keep syncs the content and gives the file its name. An existing file is replaced if replace is set, else the error is
// fs.ErrExist, and the caller can choose another name. The directory's entry is synced too.
func (p *Pending) Keep(path string, replace bool) error {
	if !p.synced {
		if err := p.f.Sync(); err != nil {
			return err
		}
		p.synced = true
	}
	if !p.closed {
		p.closed = true
		if err := p.f.Close(); err != nil {
			return err
		}
	}
	var err error
	if replace {
		err = os.Rename(p.f.Name(), path)
	} else {
		err = nameNew(p.f.Name(), path)
	}
	if err != nil {
		return err
	}
	p.f = nil
	return disk{}.syncDir(filepath.Dir(path))
}

// nameNew names a file and replaces none. File systems without hard links need two steps: reserve the name,
// then replace the empty file.
func nameNew(from, path string) error {
	err := os.Link(from, path)
	if err == nil {
		return os.Remove(from)
	}
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Close(), os.Rename(from, path)); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// Drop removes the file, unless it was kept. It may be called at any time.
func (p *Pending) Drop() error {
	if p.f == nil {
		return nil
	}
	f := p.f
	p.f = nil
	if !p.closed {
		_ = f.Close() // its content is removed
	}
	return removeIfExists(f.Name())
}

// IsPending reports whether a name in a directory is of a file that is not complete, or was not when its writer crashed.
func IsPending(name string) bool {
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, pendingSuffix)
}
