package draft

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestCache checks that the directories of a cache are created once, are not part of the changes, and are removed only
// while they are not mounted.
//
// FEATURES: R124
func TestCache(t *testing.T) {
	root, lower := t.TempDir(), t.TempDir()
	d, err := Create(filepath.Join(t.TempDir(), "d"), Options{Roots: []string{root}, Session: "s"})
	if errors.Is(err, os.ErrPermission) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Cache(lower)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(r.Upper, "entry")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if again, err := d.Cache(lower); err != nil || again != r {
		t.Errorf("%+v, %v; want %+v", again, err, r)
	}
	if c, err := d.Changes(t.Context()); err != nil || len(c.Changes) != 0 {
		t.Errorf("changes %+v, %v", c.Changes, err)
	}
	mount, err := d.LockMount()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.RemoveCaches(); !errors.Is(err, ErrMounted) {
		t.Errorf("removed while mounted: %v", err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
	if err := mount.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // also if nothing is left
		if err := d.RemoveCaches(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Dir(r.Upper)); err == nil {
		t.Error("not removed")
	}
	if _, err := d.Discard(t.Context()); err != nil {
		t.Error(err)
	}
}
