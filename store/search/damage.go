package search

import (
	"errors"
	"os"
)

// marker returns the name of the file that marks an index as corrupt.
func marker(path string) string { return path + ".damaged" }

func mark(path string) error {
	f, err := os.OpenFile(marker(path), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

func isMarked(path string) bool {
	_, err := os.Stat(marker(path))
	return err == nil
}

// quarantine renames an index and its side files. Only the newest such copy is kept, because the journals have the
// content too.
func quarantine(path string) error {
	for _, suffix := range []string{"-wal", "-shm", ""} {
		err := os.Rename(path+suffix, path+".corrupt"+suffix)
		if errors.Is(err, os.ErrNotExist) {
			err = os.Remove(path + ".corrupt" + suffix)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if err := os.Remove(marker(path)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
