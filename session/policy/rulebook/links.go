package rulebook

import (
	"os"
	"path/filepath"
	"strings"
)

// Bounds of path lookups: paths of one judgement, and links to missing files in a row.
const (
	maxLinks    = 2000
	maxDangling = 40
)

// Links returns a function for policy.Line.Real. It looks each path up once; one goroutine may use it.
func Links() func(string) string {
	known := map[string]string{}
	return func(path string) string {
		to, is := known[path]
		if !is && len(known) < maxLinks {
			to = RealPath(path)
			known[path] = to
		}
		if to == "" {
			return path
		}
		return to
	}
}

// RealPath returns an absolute path without symbolic links, as far as it exists. A link to a missing file is followed, too:
// a program that writes to the link creates that file.
func RealPath(path string) string {
	if !filepath.IsAbs(path) || len(path) > 4096 || strings.ContainsRune(path, 0) {
		return path
	}
	return realPath(filepath.Clean(path), maxDangling)
}

func realPath(path string, left int) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	dir := filepath.Dir(path)
	if dir == path || left == 0 {
		return path
	}
	dir = realPath(dir, left)
	at := filepath.Join(dir, filepath.Base(path))
	if to, err := os.Readlink(at); err == nil {
		if !filepath.IsAbs(to) {
			to = filepath.Join(dir, to)
		}
		return realPath(filepath.Clean(to), left-1)
	}
	return at
}
