//go:build unix && !linux

package keeper

func neutralPriority() error { return nil }
