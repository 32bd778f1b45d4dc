package rulebook

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/longterm-dev/longterm/session/config/tomldoc"
)

// content is a file as it was read: once, from one descriptor.
type content struct {
	src []byte
	id  identity
	st  fs.FileInfo
}

// read reads a file of rules.
func read(path string) (content, error) { return readAs(path, "a file of rules") }

// readAs reads a file that is to be what it is called. What is no regular file is refused without waiting for it.
func readAs(path, what string) (content, error) {
	problem := func(format string, args ...any) (content, error) {
		return content{}, tomldoc.Problems{{File: path, Text: fmt.Sprintf(format, args...)}}
	}
	f, err := os.OpenFile(path, openFlags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if to, err := os.Readlink(path); err == nil {
			return problem("this is a link to %s, which is not there; put %s there, or remove the link", to, what)
		}
		return content{}, err
	}
	if err != nil {
		if st, serr := os.Stat(path); serr == nil && !st.Mode().IsRegular() && !st.IsDir() { // a socket, a device without a driver
			return problem("this is no regular file; move it away, %s has to be here", what)
		}
		return problem("%v; make it readable, or remove it", errors.Unwrap(err))
	}
	defer f.Close()
	st, err := f.Stat()
	switch {
	case err != nil:
		return problem("%v", err)
	case st.IsDir():
		return problem("this is a directory; move it away, %s has to be here", what)
	case !st.Mode().IsRegular():
		return problem("this is no regular file; move it away, %s has to be here", what)
	}
	src, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return problem("%v; try again, or remove it", err)
	}
	return content{src: src, id: identityOf(st), st: st}, nil
}

// ReadFile reads a file of rules that is to be tried; one that stands where projects have theirs is a
// project's, and Path is then the name under which it is found.
func ReadFile(path string) (*File, bool, error) {
	project := false
	if p, err := projectPath(path); err == nil {
		path, project = p, true
	}
	c, err := read(path)
	if err != nil {
		return nil, project, err
	}
	f, err := Decode(path, c.src, project)
	return f, project, err
}

// place is the name of a file of rules in a project.
var place = filepath.Join(".longterm", "policy.toml")

// maxParents bounds how far up projects are looked for: no path has more directories (PATH_MAX). Whoever makes directories
// within a project must not get out of it by that.
const maxParents = 2048

// projectFiles are the files of rules of the projects that a directory is in, the outermost first: in it and
// in what it is in, not the home directory nor above it, and on its file system. All of them count: a
// file further in takes nothing from those further out.
func projectFiles(dir, home string) (found []string) {
	if !filepath.IsAbs(dir) {
		return nil
	}
	dir = resolved(reachable(dir))
	if home != "" {
		home = resolved(home)
	}
	device := uint64(0)
	for range maxParents {
		if dir == home {
			break
		}
		if st, err := os.Stat(dir); err == nil { // else it has vanished: what it was in has not
			if now := deviceOf(st); device == 0 {
				device = now
			} else if now != device {
				break
			}
			if _, err := os.Lstat(filepath.Join(dir, place)); err == nil || !missing(err) && exists(filepath.Join(dir, ".longterm")) {
				found = append([]string{filepath.Join(dir, place)}, found...)
			}
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	return found
}

// mayBeInProject says of a directory without links whether it is worth looking at with all care: executions mostly are in
// none, and wait for this.
func mayBeInProject(dir string) bool {
	if !filepath.IsAbs(dir) {
		return false
	}
	dir = reachable(dir)
	for range maxParents {
		if !missing(lstat(strings.TrimSuffix(dir, string(filepath.Separator)) + string(filepath.Separator) + ".longterm")) {
			return true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
	return true
}

// maxPath is one more than the kernel takes of a path (PATH_MAX).
const maxPath = 4096

// reachable is a directory, or the last one on the way to it that a path leads to: a shell says where it is however deep that
// is, and it is in the projects further up all the same.
func reachable(dir string) string {
	if len(dir) < maxPath {
		return dir
	}
	return dir[:max(1, strings.LastIndexByte(dir[:maxPath], filepath.Separator))]
}

// resolved is a directory without links, as far as it is there.
func resolved(dir string) string {
	dir = filepath.Clean(dir)
	for at, rest := dir, ""; ; {
		// One call first: what is not there is not gone through from the root at each of its levels.
		if _, err := os.Stat(at); err == nil {
			if real, err := filepath.EvalSymlinks(at); err == nil {
				return filepath.Join(real, rest)
			}
		}
		up := filepath.Dir(at)
		if up == at {
			return dir
		}
		at, rest = up, filepath.Join(filepath.Base(at), rest)
	}
}

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) || notDirectory(err) }

// lookAt is os.Stat of what is mostly no link, or not there: somebody waits for it in execve. link says that it is one; what
// leads nowhere and is one was put there by somebody who has rules, and they are elsewhere now.
func lookAt(path string) (st os.FileInfo, link bool, err error) {
	if st, err = os.Lstat(path); err == nil && st.Mode()&fs.ModeSymlink != 0 {
		st, err = os.Stat(path)
		return st, true, err
	}
	return st, false, err
}

func exists(path string) bool {
	st, err := os.Lstat(path)
	return err == nil && st.IsDir()
}
