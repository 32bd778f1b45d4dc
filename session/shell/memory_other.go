//go:build !linux

package shell

// memoryRoot always returns "".
func memoryRoot() string { return "" }
