package shell

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// MemoryDir creates the directory for a session's shell state, in memory and unreadable for other users: an environment
// has secrets, which must not be on a disk. session is the session's own directory; the name is derived from it, so
// that a later daemon finds it. It returns "" if the system has no file system in memory.
func MemoryDir(session string) (string, error) {
	root := memoryRoot()
	if root == "" {
		return "", nil
	}
	dir := filepath.Join(root, memoryPrefix()+fmt.Sprintf("%x", sha256.Sum256([]byte(session)))[:16])
	if err := errors.Join(RemoveMemoryDir(dir), os.Mkdir(dir, 0o700)); err != nil {
		// Another user created it: any user may create names here.
		if dir, err = os.MkdirTemp(root, memoryPrefix()); err != nil {
			return "", fmt.Errorf("make a directory in memory: %w", err)
		}
	}
	return dir, os.WriteFile(filepath.Join(dir, "session"), []byte(session), 0o600)
}

// memoryPrefix returns the prefix of this user's directories.
func memoryPrefix() string { return fmt.Sprintf("longterm-%d-", os.Getuid()) }

// RemoveMemoryDir removes dir if MemoryDir created it.
func RemoveMemoryDir(dir string) error {
	root := memoryRoot()
	if root == "" || filepath.Dir(dir) != root || !strings.HasPrefix(filepath.Base(dir), memoryPrefix()) {
		return nil
	}
	return os.RemoveAll(dir)
}

// RemoveStaleMemoryDirs removes directories whose sessions no longer exist: a daemon was killed, or its data deleted.
func RemoveStaleMemoryDirs() error {
	var err error
	root := memoryRoot()
	if root == "" {
		return nil
	}
	dirs, err := filepath.Glob(filepath.Join(root, memoryPrefix()+"*"))
	for _, dir := range dirs {
		session, readErr := os.ReadFile(filepath.Join(dir, "session"))
		if readErr != nil || len(session) == 0 {
			continue // being created, or of no session
		}
		if _, statErr := os.Lstat(string(session)); errors.Is(statErr, os.ErrNotExist) {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}
	return err
}
