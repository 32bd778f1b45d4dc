//go:build !linux

package sys

import (
	"errors"
	"io/fs"
)

// File is what a path means to another process.
type File struct {
	Path string
	Mode fs.FileMode
	At   string
	// Elsewhere says that Path is another file for us.
	Elsewhere bool
}

// FileOf fails: other processes' paths are not known here.
func FileOf(int, string, string) (File, error) { return File{}, errors.ErrUnsupported }
