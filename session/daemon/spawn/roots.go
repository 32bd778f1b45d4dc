//go:build unix

package spawn

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/policy"
)

// CheckStart returns an error if a session may not start in a directory because it is outside of the roots. An empty
// dir means the home directory. Links are resolved. Without roots all directories are allowed.
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
