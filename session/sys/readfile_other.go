//go:build !linux

package sys

import (
	"errors"
	"os"
)

// readFile reads a file.
func readFile(name string) ([]byte, error) { return os.ReadFile(name) }

// readRecord reads a file.
func readRecord(name string) ([]byte, error) { return os.ReadFile(name) }

// ResolvePath fails: other processes' paths are unknown here.
func ResolvePath(int, string, string) (ResolvedFile, error) {
	return ResolvedFile{}, errors.ErrUnsupported
}
