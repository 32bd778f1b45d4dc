//go:build unix && !linux

package ring

import "os"

// sharedFile returns a temporary file that no process can open: it is unlinked at once, and lives as long as a
// descriptor or a mapping does.
func sharedFile(size int64) (*os.File, error) {
	f, err := os.CreateTemp("", "longterm-ring-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		_ = f.Close()
		return nil, err
	}
	if err := f.Truncate(size); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// releasePages does nothing: these systems keep the pages of a file.
func releasePages([]byte) error { return nil }
