//go:build !linux

package inputdetect

import (
	"fmt"
	"runtime"
)

// Prober examines the foreground process group of a terminal. Only Linux supports it.
type Prober struct{}

// Probe always returns Unknown.
func (*Prober) Probe(Target) Result {
	return Result{Timeout: -1, Reason: fmt.Sprintf("waits cannot be examined on %s", runtime.GOOS)}
}

// UnchangedSinceProbe always returns false.
func (*Prober) UnchangedSinceProbe(int) bool { return false }

// TargetOf returns an empty target, as Probe has no use for it.
func TargetOf(int) (Target, error) { return Target{}, nil }
