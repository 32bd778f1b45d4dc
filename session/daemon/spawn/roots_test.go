//go:build unix

package spawn

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// FEATURES: R72
func TestCheckStart(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", filepath.Join(dir, "home"))
	for _, d := range []string{"proj/sub", "proj-evil", "home/work"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"proj/out": "proj-evil", "in": "proj/sub", "home/linked": "proj", "loop": "loop"} {
		if err := os.Symlink(filepath.Join(dir, to), filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return dir + "/" + name }
	for _, c := range []struct {
		dir   string
		roots []string
		want  bool
	}{
		{at("proj-evil"), nil, true},
		{at("proj"), []string{at("proj")}, true},
		{at("proj/sub"), []string{at("proj")}, true},
		{at("proj-evil"), []string{at("proj")}, false},
		{at("proj/../proj-evil"), []string{at("proj")}, false},
		{at("proj/out"), []string{at("proj")}, false},
		{at("in"), []string{at("proj")}, true},
		{at("proj/sub"), []string{at("in")}, true}, // a root that is a link
		{at("proj/sub"), []string{"~/linked"}, true},
		{at("home/work"), []string{"~/work"}, true},
		{at("home/work"), []string{"~"}, true},
		{at("home/work"), []string{"~work"}, false},
		{"", []string{"~"}, true}, // the user's directory
		{"", []string{at("proj")}, false},
		{at("gone"), []string{at("gone")}, false},
		{at("loop"), []string{dir}, false},
		{at("proj"), []string{at("gone"), at("loop")}, false}, // no root exists: nothing is in one
		{at("proj"), []string{"proj"}, false},                 // not absolute
	} {
		err := CheckStart(c.dir, c.roots)
		if (err == nil) != c.want {
			t.Errorf("%s in %q: %v", c.dir, c.roots, err)
		}
		if e, ok := err.(*api.Error); err != nil && (!ok || e.Code != api.CodeDenied || !strings.Contains(e.Hint, "policy.roots")) {
			t.Errorf("%s in %q: %#v", c.dir, c.roots, err)
		}
	}
}
