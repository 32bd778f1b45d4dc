//go:build unix && !linux

package keeper

// resetPriority does nothing on this system.
func resetPriority() error { return nil }
