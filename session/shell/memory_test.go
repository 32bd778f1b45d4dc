package shell

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestMemoryDir checks that a shell's state is unreadable for other users, and removed with its session.
// FAULT: A7
func TestMemoryDir(t *testing.T) {
	session := filepath.Join(t.TempDir(), "session")
	if err := os.Mkdir(session, 0o700); err != nil {
		t.Fatal(err)
	}
	dir, err := MemoryDir(session)
	if err != nil {
		t.Fatal(err)
	}
	if dir == "" {
		t.Skip("needs a place where files are in memory")
	}
	t.Cleanup(func() { _ = RemoveMemoryDir(dir) })
	if st, err := os.Lstat(dir); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("%s: %v, %v", dir, st, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "environ"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if again, err := MemoryDir(session); again != dir || err != nil {
		t.Errorf("created again: got %s, %v", again, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "environ")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory has former files: %v", err)
	}
	if err := RemoveStaleMemoryDirs(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(dir); err != nil {
		t.Errorf("removed while its session exists: %v", err)
	}
	if err := os.Remove(session); err != nil {
		t.Fatal(err)
	}
	if err := RemoveStaleMemoryDirs(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("not removed after its session: %v", err)
	}
	other := t.TempDir()
	if err := RemoveMemoryDir(other); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(other); err != nil {
		t.Errorf("another directory was removed: %v", err)
	}
}
