//go:build !linux

package sys

import "os"

// readFile is only used where there is /proc.
func readFile(name string) ([]byte, error) { return os.ReadFile(name) }

// readRecord likewise.
func readRecord(name string) ([]byte, error) { return os.ReadFile(name) }
