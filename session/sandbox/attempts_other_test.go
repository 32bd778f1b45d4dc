//go:build !linux

package sandbox

import "os"

// attempts are made on Linux only.
func attempts([]string) { os.Exit(0) }
