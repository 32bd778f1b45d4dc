//go:build unix

package spawn

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/policy"
)

// CheckStart says that a session may not start in a directory, which is the user's where none is named: it does
// not lie in one of the roots. Symbolic links are resolved, of both. No roots are no limit.
func CheckStart(dir string, roots []string) error {
	if len(roots) == 0 {
		return nil
	}
	home, _ := os.UserHomeDir() // unknown: no root lies below it
	if dir == "" {
		dir = home
	}
	real, err := filepath.EvalSymlinks(dir)
	if err == nil {
		resolved := make([]string, 0, len(roots))
		for _, root := range roots {
			if rest, ok := strings.CutPrefix(root, "~"); ok && home != "" && (rest == "" || rest[0] == '/') {
				root = home + rest
			}
			if !filepath.IsAbs(root) {
				continue
			}
			if to, err := filepath.EvalSymlinks(root); err == nil { // else nothing is in it
				resolved = append(resolved, to)
			}
		}
		if len(resolved) > 0 && policy.InRoots(real, resolved) {
			return nil
		}
	}
	return api.Errorf(api.CodeDenied, "no session starts in %s: it lies outside of policy.roots", dir).
		WithHint("choose a directory in %s with --cwd, or add one to policy.roots in the configuration", strings.Join(roots, " or "))
}
