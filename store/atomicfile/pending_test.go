package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// FEATURES: R136
func TestPending(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	write := func(text string) *Pending {
		p, err := Create(dir, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := write("first")
	if all := names(t, dir); len(all) != 1 || !IsPending(all[0]) {
		t.Errorf("before the commit: %q", all)
	}
	if err := first.Keep(path, false); err != nil {
		t.Fatal(err)
	}
	second := write("second")
	if err := second.Keep(path, false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("an existing file: %v", err)
	}
	if got := content(t, path); got != "first" {
		t.Errorf("it was overwritten by %q", got)
	}
	if err := errors.Join(second.Keep(path+"-2", false), second.Drop()); err != nil {
		t.Fatal(err)
	}
	if err := write("dropped").Drop(); err != nil {
		t.Fatal(err)
	}
	if err := write("third").Keep(path, true); err != nil || content(t, path) != "third" || content(t, path+"-2") != "second" {
		t.Errorf("%v, %q", err, content(t, path))
	}
	if all := names(t, dir); !slices.Equal(all, []string{"f", "f-2"}) {
		t.Errorf("left in the directory: %q", all)
	}
	if st, err := os.Stat(path); err != nil || st.Mode() != 0o600 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
	if _, err := Create(filepath.Join(dir, "none"), 0o600); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing directory: %v", err)
	}
}
