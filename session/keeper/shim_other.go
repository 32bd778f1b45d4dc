//go:build unix && !linux

package keeper

import "errors"

// shimSocket creates the socket to a shim: our end, and the one that it inherits.
func shimSocket() (ours, theirs int, err error) { return -1, -1, errors.ErrUnsupported }

// shimResult is a shim's report.
type shimResult struct {
	checked bool // its executions are checked
	report  string
}

// awaitShim talks to a shim (package wire, shim.go), stores its listener and lets it continue. It removes a session
// whose program was not executed.
func (k *Keeper) awaitShim(*child) (shimResult, error) { return shimResult{}, errors.ErrUnsupported }
