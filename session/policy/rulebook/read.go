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

// content is a file's bytes and metadata, both from one open descriptor.
type content struct {
	src []byte
	id  identity
	st  fs.FileInfo
}

// read reads a rule file.
func read(path string) (content, error) { return readAs(path, "a file of rules") }

// readAs reads a file of an expected kind. It rejects anything but a regular file without blocking on it.
func readAs(path, what string) (content, error) {
	problem := func(format string, args ...any) (content, error) {
		return content{}, tomldoc.Problems{{File: path, Text: fmt.Sprintf(format, args...)}}
	}
	f, err := os.OpenFile(path, openFlags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if to, err := os.Readlink(path); err == nil {
			return problem("dangling link to %s; put %s there, or remove the link", to, what)
		}
		return content{}, err
	}
	if err != nil {
		if st, serr := os.Stat(path); serr == nil && !st.Mode().IsRegular() && !st.IsDir() { // a socket, a device without a driver
			return problem("not a regular file; move it away, %s belongs here", what)
		}
		return problem("%v; make it readable, or remove it", errors.Unwrap(err))
	}
	defer f.Close()
	st, err := f.Stat()
	switch {
	case err != nil:
		return problem("%v", err)
	case st.IsDir():
		return problem("a directory; move it away, %s belongs here", what)
	case !st.Mode().IsRegular():
		return problem("not a regular file; move it away, %s belongs here", what)
	}
	src, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return problem("%v; try again, or remove it", err)
	}
	return content{src: src, id: identityOf(st), st: st}, nil
}

// ReadFile reads a rule file for a check. For a file at a project's place, the bool is true and Path is the name under
// which it is found.
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

// projectPolicy is the path of a rule file in its project.
var projectPolicy = filepath.Join(".longterm", "policy.toml")

// maxParents bounds the search for projects upwards: no path has more directories (PATH_MAX). Creating deep directories
// must not escape a project.
const maxParents = 2048

// projectFiles returns the rule files of the projects that a directory is in, outermost first. It searches the
// directory and its parents on the same file system, below the home directory. All of them count: an inner file removes
// nothing from outer ones.
func projectFiles(dir, home string) (found []string) {
	if !filepath.IsAbs(dir) {
		return nil
	}
	dir = resolve(clampDepth(dir))
	if home != "" {
		home = resolve(home)
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
			if _, err := os.Lstat(filepath.Join(dir, projectPolicy)); err == nil || !isMissing(err) && exists(filepath.Join(dir, ".longterm")) {
				found = append([]string{filepath.Join(dir, projectPolicy)}, found...)
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

// mayBeInProject reports quickly whether a link-free directory may be in a project: most executions are not, and wait
// for this.
func mayBeInProject(dir string) bool {
	if !filepath.IsAbs(dir) {
		return false
	}
	dir = clampDepth(dir)
	for range maxParents {
		if !isMissing(lstat(strings.TrimSuffix(dir, string(filepath.Separator)) + string(filepath.Separator) + ".longterm")) {
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

// maxPath is the kernel's bound of a path's length, with its final zero byte (PATH_MAX).
const maxPath = 4096

// clampDepth returns a directory, or its deepest ancestor within the limit of a path's length: a shell may report a longer
// path, which is in the same projects.
func clampDepth(dir string) string {
	if len(dir) < maxPath {
		return dir
	}
	return dir[:max(1, strings.LastIndexByte(dir[:maxPath], filepath.Separator))]
}

// resolve returns a directory without links, as far as it exists.
func resolve(dir string) string {
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

// isMissing reports whether an error means that a file does not exist.
func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) || isNotDirectory(err) }

// statPath works like os.Stat for a path that is mostly missing or not a link: a process in execve waits for it. link reports a
// link; a dangling one means that its rules are now elsewhere.
func statPath(path string) (st os.FileInfo, link bool, err error) {
	if st, err = os.Lstat(path); err == nil && st.Mode()&fs.ModeSymlink != 0 {
		st, err = os.Stat(path)
		return st, true, err
	}
	return st, false, err
}

// exists reports whether a file exists.
func exists(path string) bool {
	st, err := os.Lstat(path)
	return err == nil && st.IsDir()
}
