//go:build unix

package launch

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if IsHeld(path) || HolderSocket(path) != "" {
		t.Error("held without a file")
	}
	if err := RemoveLock(path); err != nil {
		t.Error(err)
	}
	f, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("/a/socket"); err != nil {
		t.Fatal(err)
	}
	if !IsHeld(path) || HolderSocket(path) != "/a/socket" {
		t.Errorf("held %v by %q", IsHeld(path), HolderSocket(path))
	}
	if again, err := Lock(path); !errors.Is(err, ErrRunning) || again != nil {
		t.Errorf("second lock: %v, %v", again, err)
	}
	if err := RemoveLock(path); !errors.Is(err, ErrRunning) {
		t.Errorf("removed while it is held: %v", err)
	}
	if same, err := Relock(f, path); err != nil || same != f {
		t.Errorf("lock of the same file: %v, %v", same, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if IsHeld(path) {
		t.Error("held after it was closed")
	}
	if err := RemoveLock(path); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("still there: %v", err)
	}
}

// TestRelockAfterRemoval checks that a lock whose file was removed is replaced by a new one.
func TestRelockAfterRemoval(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	f, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if IsSameFile(f, path) || IsHeld(path) {
		t.Error("a removed file is a lock")
	}
	again, err := Relock(f, path)
	if err != nil || again == f || !IsSameFile(again, path) || !IsHeld(path) {
		t.Fatalf("%v, %v", again, err)
	}
	defer again.Close()
	if _, err := f.Stat(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("old file still open: %v", err)
	}
	other, err := Lock(filepath.Join(t.TempDir(), "other"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if kept, err := Relock(other, path); !errors.Is(err, ErrRunning) || kept != other {
		t.Errorf("lock taken from its holder: %v, %v", kept, err)
	}
}

func TestLockFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	if err := os.Symlink(filepath.Join(dir, "elsewhere"), path); err != nil {
		t.Fatal(err)
	}
	if f, err := Lock(path); err == nil {
		_ = f.Close()
		t.Error("a link was followed")
	}
}
