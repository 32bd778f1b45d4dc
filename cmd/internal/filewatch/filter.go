package filewatch

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Filter selects the paths to watch. It is immutable.
type Filter struct {
	want, ignore []string // patterns of whole paths
}

// ignored lists names that are never watched: files of version control, package managers, editors and compilers.
var ignored = []string{
	".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".gradle", ".DS_Store",
	"*~", "*.swp", "*.swo", "*.swx", ".#*", "#*#", "4913", "*.tmp", "*.o", "*.obj", "*.a", "*.so", "*.dylib", "*.pyc", "*.class",
}

// NewFilter returns a filter for paths that match one of the globs (none: all) and no ignored glob. A glob without a
// slash matches a name in any directory, with a leading slash only in the root; ** matches any directories.
func NewFilter(globs, ignore []string) (*Filter, error) {
	f := &Filter{}
	for _, g := range globs {
		if filepath.IsAbs(g) {
			return nil, fmt.Errorf("%q is absolute; patterns must be relative to the watched directory (--cwd)", g)
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

// pattern returns a glob as a pattern for whole paths.
func pattern(glob string) (string, error) {
	p := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(glob), "./"), "/")
	switch {
	case p == "" || !doublestar.ValidatePattern(p):
		return "", fmt.Errorf("%q: invalid pattern; escape literal *, ?, [ and {", glob)
	case p[0] == '/':
		p = p[1:]
	case p == ".." || strings.HasPrefix(p, "../"):
		return "", fmt.Errorf("%q is outside the watched directory; watch that one with --cwd", glob)
	case !strings.Contains(p, "/"):
		p = "**/" + p
	}
	return p, nil
}

// Wants reports whether changes of a file are reported.
func (f *Filter) Wants(rel string) bool {
	if f.Prunes(rel) {
		return false
	}
	return len(f.want) == 0 || matches(f.want, rel)
}

// Prunes reports whether a path, and everything below it, is ignored.
func (f *Filter) Prunes(rel string) bool { return matches(f.ignore, rel) }

func matches(patterns []string, rel string) bool {
	for _, p := range patterns {
		if doublestar.MatchUnvalidated(p, rel) {
			return true
		}
	}
	return false
}

// GitIgnore returns the patterns of a directory's .gitignore, without exceptions (!), which are not supported.
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
