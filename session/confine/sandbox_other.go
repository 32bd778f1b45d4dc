//go:build !linux

package confine

import "errors"

var errLinux = errors.New("it needs Linux")

// LandlockABI is the version of Landlock that the kernel has; 0: none.
func LandlockABI() int { return 0 }

// ProbeNamespaces says why namespaces cannot be had here.
func ProbeNamespaces() error { return errLinux }
