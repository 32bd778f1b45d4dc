//go:build unix && !linux

package ring

import "os"

// sharedFile is a temporary file that no other process can open: unlinked at once, it
// lives as long as a descriptor or a mapping does.
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

// release has no counterpart for files on these systems; the pages stay.
func release([]byte) error { return nil }
