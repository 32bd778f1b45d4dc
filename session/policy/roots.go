package policy

import (
	"path/filepath"
	"strings"
)

// InRoots reports whether dir lies in one of roots, compared by path component: /proj-evil is not in /proj.
// Both must be absolute, with symbolic links resolved by the caller. No roots are no limit.
//
// This limits where a command starts. It does not limit what the command does: cd and absolute paths lead
// out. For that there are rules and the sandbox.
func InRoots(dir string, roots []string) bool {
	if len(roots) == 0 {
		return true
	}
	if !filepath.IsAbs(dir) || strings.ContainsRune(dir, 0) {
		return false
	}
	dir = filepath.Clean(dir)
	for _, root := range roots {
		if !filepath.IsAbs(root) {
			continue
		}
		rest, err := filepath.Rel(filepath.Clean(root), dir)
		if err == nil && rest != ".." && !strings.HasPrefix(rest, ".."+string(filepath.Separator)) {
			return true
		}
	}
	return false
}
