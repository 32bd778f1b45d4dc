//go:build unix && !linux

package keeper

import "errors"

// setLimit returns an error: this system cannot limit other processes.
func setLimit(int, int, uint64) error { return errors.ErrUnsupported }
