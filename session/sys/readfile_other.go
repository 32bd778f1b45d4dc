//go:build !linux

package sys

import (
	"errors"
	"os"
)

// readFile is only used with /proc.
func readFile(name string) ([]byte, error) { return os.ReadFile(name) }

// readRecord likewise.
func readRecord(name string) ([]byte, error) { return os.ReadFile(name) }

// FileOf fails: other processes' paths are not known here.
func FileOf(int, string, string) (File, error) { return File{}, errors.ErrUnsupported }
