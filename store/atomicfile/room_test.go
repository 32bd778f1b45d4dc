package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestRoom checks that the check for a full disk detects one that accepts part of a file, and leaves no file.
//
// FEATURES: R93
func TestRoom(t *testing.T) {
	dir := t.TempDir()
	if err := CheckSpace(dir); err != nil {
		t.Error(err)
	}
	if err := CheckSpace(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	room, step := 4096, ""
	full := disk{wrap: func(f *os.File) file { return faulty{f, &step, &room} }}
	if err := full.room(dir); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full disk: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
