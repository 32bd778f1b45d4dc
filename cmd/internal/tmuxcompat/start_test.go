//go:build unix

package tmuxcompat

import (
	"path/filepath"
	"testing"
)

// A directory that is not there is no reason not to start, nor to end what a pane ran.
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
