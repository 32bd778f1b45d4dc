//go:build !linux

package proxy

import "os"

// fetchInside is called on Linux only.
func fetchInside([]string) { os.Exit(0) }
