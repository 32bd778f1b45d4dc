//go:build !linux

package proxy

import "os"

// fetch is called on Linux only.
func fetch([]string) { os.Exit(0) }
