//go:build !linux

package confine

import "errors"

var errLinux = errors.New("it needs Linux")

// LandlockABI returns the kernel's Landlock version; 0: none.
func LandlockABI() int { return 0 }

// ProbeNamespaces returns why namespaces are unavailable here.
func ProbeNamespaces() error { return errLinux }

// ProbeDrafts returns why drafts are unavailable here.
func ProbeDrafts(string) error { return errLinux }
