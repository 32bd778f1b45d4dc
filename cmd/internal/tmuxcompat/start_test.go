//go:build unix

package tmuxcompat

import (
	"path/filepath"
	"testing"
)

// TestOrHome checks that a missing directory prevents neither a start nor the end of a pane's program.
func TestOrHome(t *testing.T) {
	home := t.TempDir()
	for _, s := range []struct{ dir, home, want string }{
		{home, "/", home}, {filepath.Join(home, "none"), home, home}, {"/none", "/none/either", "/"}, {"/none", "", "/"},
	} {
		x := &command{call: &call{Options: Options{Env: []string{"HOME=" + s.home}}}}
		if got := x.orHome(s.dir); got != s.want {
			t.Errorf("%+v: %s", s, got)
		}
	}
}
