//go:build unix

package viewsource

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// FEATURES: R76
func TestViewLayouts(t *testing.T) {
	ctx := t.Context()
	l := layouts{dir: filepath.Join(t.TempDir(), "layouts")}
	if names, err := l.Names(ctx); err != nil || len(names) != 0 {
		t.Errorf("before there is one: %q %v", names, err)
	}
	names := []string{"..", ".hidden", "a/b", "last", "über ☂"}
	for _, n := range names {
		if b, err := l.Load(ctx, n); b != nil || err != nil {
			t.Errorf("%s before it was saved: %q %v", n, b, err)
		}
		for _, text := range []string{"old and longer", n} {
			if err := l.Save(ctx, n, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, err := l.Names(ctx)
	slices.Sort(got)
	if err != nil || !slices.Equal(got, names) {
		t.Errorf("%q %v", got, err)
	}
	for _, n := range names {
		if b, err := l.Load(ctx, n); string(b) != n || err != nil {
			t.Errorf("%s: %q %v", n, b, err)
		}
	}
	files, _ := os.ReadDir(l.dir)
	if outside, _ := os.ReadDir(filepath.Dir(l.dir)); len(files) != len(names) || len(outside) != 1 {
		t.Errorf("%d files in the directory, %d beside it", len(files), len(outside))
	}
	l = layouts{dir: filepath.Join("/dev/null", "layouts")}
	if err := l.Save(ctx, "x", nil); err == nil {
		t.Error("saved where nothing can be saved")
	}
}
