package rulebook

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/longterm-dev/longterm/session/policy"
)

// TestLinks_ListEntries_UpToLimit checks that a directory's links and subdirectories are known, up to a limit for all
// directories of one judgement.
//
// FAULT: G19
func TestLinks_ListEntries_UpToLimit(t *testing.T) {
	dir := t.TempDir()
	many := filepath.Join(dir, "many")
	if err := os.Mkdir(many, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(many, filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	l := NewDisk()
	for range 2 {
		got, known := l.Entries(dir)
		if want := []policy.Entry{{Name: "link", Link: true}, {Name: "many"}}; !known || len(got) != 2 || !slices.Contains(got, want[0]) || !slices.Contains(got, want[1]) {
			t.Errorf("entries %v, %v, want %v", got, known, want)
		}
	}
	for _, none := range []string{filepath.Join(dir, "missing"), file} {
		if got, known := l.Entries(none); !known || len(got) != 0 {
			t.Errorf("%s has %v, %v", none, got, known)
		}
	}
	for i := range maxEntries + 1 {
		if err := os.WriteFile(filepath.Join(many, strconv.Itoa(i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, known := l.Entries(many); known {
		t.Error("more entries than the limit are known")
	}
}
