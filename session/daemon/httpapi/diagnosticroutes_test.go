//go:build unix

package httpapi

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The newest change is that of a source file: products, packages, hidden directories and links do not count.
//
// FEATURES: R29
func TestSourceChanges(t *testing.T) {
	dir := t.TempDir()
	at := func(second int64) time.Time { return time.Unix(1_000_000+second, 0) }
	write := func(name string, second int64) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, at(second), at(second)); err != nil {
			t.Fatal(err)
		}
	}
	if newest, tests := sourceChanges(t.Context(), filepath.Join(dir, "none")); !newest.IsZero() || tests {
		t.Errorf("without a directory: %v, %v", newest, tests)
	}
	write("a.go", 1)
	write("p/q/b.go", 2)
	for _, product := range []string{"notes.txt", "node_modules/x/x.js", ".git/x.go", "build/x.c", "1/2/3/4/5/6/7/x.go"} {
		write(product, 9)
	}
	if err := os.Symlink(filepath.Join(dir, "build/x.c"), filepath.Join(dir, "link.c")); err != nil {
		t.Fatal(err)
	}
	if newest, tests := sourceChanges(t.Context(), dir); !newest.Equal(at(2)) || tests {
		t.Errorf("%v, %v; want %v", newest, tests, at(2))
	}
	for _, name := range []string{"p/a_test.go", "p/test_a.py", "p/a.test.ts"} {
		write(name, 3)
		if newest, tests := sourceChanges(t.Context(), dir); !newest.Equal(at(3)) || !tests {
			t.Errorf("%s: %v, %v", name, newest, tests)
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}
