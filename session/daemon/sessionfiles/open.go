//go:build unix

package sessionfiles

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/shellquote"
)

// Open opens a regular file for reading. Other kinds of files are rejected before they are opened, and none is waited for.
func Open(path string) (*os.File, fs.FileInfo, error) {
	st, err := os.Stat(path)
	if err == nil {
		err = checkKind(path, st)
	}
	if err != nil {
		return nil, nil, openError(path, err)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, openError(path, err)
	}
	if st, err = f.Stat(); err == nil { // another file may have the name now
		err = checkKind(path, st)
	}
	if err != nil {
		return nil, nil, errors.Join(openError(path, err), f.Close())
	}
	return f, st, nil
}

// OpenStored opens a stored file. It rejects links, with which a program of the session could lead to any
// file.
func (s *Store) OpenStored(id, name string) (*os.File, fs.FileInfo, error) {
	path := filepath.Join(s.Dir(id), name)
	missing := api.Errorf(api.CodeNotFound, "no file %q was put into the session", name).WithHint("`longterm get S` lists them")
	if clean, err := SafeName(name); err != nil || clean != name {
		return nil, nil, missing
	}
	st, err := os.Lstat(path)
	if err != nil || !st.Mode().IsRegular() {
		return nil, nil, missing
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, nil, openError(path, err)
	}
	if st, err = f.Stat(); err == nil && st.Mode().IsRegular() {
		if sys, ok := st.Sys().(*syscall.Stat_t); ok && sys.Nlink <= 1 {
			return f, st, nil
		}
	}
	_ = f.Close()
	return nil, nil, missing
}

func checkKind(path string, st fs.FileInfo) error {
	kind := ""
	switch mode := st.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return api.Errorf(api.CodeInvalid, "%q is a directory", path).
			WithHint("pack it: `longterm run --pipe --raw -- %s >FILE.tar`", shellquote.Line([]string{"tar", "-C", filepath.Dir(path), "-cf", "-", filepath.Base(path)}))
	case mode&fs.ModeNamedPipe != 0:
		kind = "a pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	default:
		kind = "a device"
	}
	return api.Errorf(api.CodeInvalid, "%q is %s, not a regular file", path, kind).WithHint("read it in the session: `longterm exec S LINE`")
}

// openError describes why a file cannot be read.
func openError(path string, err error) error {
	var made *api.Error
	switch {
	case errors.As(err, &made):
		return made
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return api.Errorf(api.CodeNotFound, "no file %q", path).WithHint("a path is absolute, or relative to the session's directory; `longterm get S` lists stored files")
	case errors.Is(err, fs.ErrPermission):
		return api.Errorf(api.CodeDenied, "%q cannot be read: permission denied", path).WithHint("only files that the daemon's user can read are copied")
	}
	return api.Errorf(api.CodeInvalid, "%q cannot be read: %v", path, errors.Unwrap(err)).WithHint("give the path of a regular file")
}
