//go:build !linux

// Package linger waits at a descriptor with the calling thread, where that is worth something.
package linger

// For does not wait.
func For(int) bool { return false }
