package filewatch

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Filter says which paths matter. It is immutable.
type Filter struct {
	want, ignore []string // patterns of whole paths
}

// ignored is never watched: what version control, package managers, editors and compilers
// keep for themselves.
var ignored = []string{
	".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".gradle", ".DS_Store",
	"*~", "*.swp", "*.swo", "*.swx", ".#*", "#*#", "4913", "*.tmp", "*.o", "*.obj", "*.a", "*.so", "*.dylib", "*.pyc", "*.class",
}

// NewFilter wants paths that match one of the globs (none: all), but for those that match
// an ignored one. A glob without a slash is of a name anywhere, with one at its beginning
// of a name in the root; ** is any directories.
func NewFilter(globs, ignore []string) (*Filter, error) {
	f := &Filter{}
	for _, g := range globs {
		if filepath.IsAbs(g) {
			return nil, fmt.Errorf("%q is absolute; patterns are of paths in the directory that is watched (--cwd)", g)
		}
		p, err := pattern(g)
		if err != nil {
			return nil, err
		}
		f.want = append(f.want, p)
	}
	for _, list := range [][]string{ignored, ignore} {
		for _, g := range list {
			p, err := pattern(g)
			if err != nil {
				return nil, err
			}
			f.ignore = append(f.ignore, p, p+"/**")
		}
	}
	return f, nil
}

// pattern is a glob as one of the whole path.
func pattern(glob string) (string, error) {
	p := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(glob), "./"), "/")
	switch {
	case p == "" || !doublestar.ValidatePattern(p):
		return "", fmt.Errorf("%q is no pattern for files; quote *, ?, [ and { if they are meant themselves", glob)
	case p[0] == '/':
		p = p[1:]
	case p == ".." || strings.HasPrefix(p, "../"):
		return "", fmt.Errorf("%q lies outside the directory that is watched; choose that one with --cwd", glob)
	case !strings.Contains(p, "/"):
		p = "**/" + p
	}
	return p, nil
}

// Wants reports if a change of a file matters.
func (f *Filter) Wants(rel string) bool {
	if f.Prunes(rel) {
		return false
	}
	return len(f.want) == 0 || matches(f.want, rel)
}

// Prunes reports if a path, and all below it, is ignored.
func (f *Filter) Prunes(rel string) bool { return matches(f.ignore, rel) }

func matches(patterns []string, rel string) bool {
	for _, p := range patterns {
		if doublestar.MatchUnvalidated(p, rel) {
			return true
		}
	}
	return false
}

// GitIgnore reads the patterns of a directory's .gitignore, but for exceptions (!), which
// are not understood.
func GitIgnore(dir string) []string {
	file, err := os.Open(filepath.Join(dir, ".gitignore"))
	if err != nil {
		return nil
	}
	defer file.Close()
	var list []string
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := strings.TrimRight(lines.Text(), " \t\r")
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		if _, err := pattern(line); err == nil {
			list = append(list, line)
		}
	}
	return list
}
