//go:build !linux

package sys

import "errors"

// FileOf fails: other processes' paths are not known here.
func FileOf(int, string, string) (File, error) { return File{}, errors.ErrUnsupported }
