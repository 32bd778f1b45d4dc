//go:build !linux

// Package spinwait waits at a descriptor with the calling thread, where that is worth something.
package spinwait

import "time"

// Time is how long it is worth something.
const Time = 20 * time.Millisecond

// MaxDescriptors is at how many Until waits.
const MaxDescriptors = 8

// For does not wait.
func For(int) bool { return false }

// Can returns false.
func Can() bool { return false }

// Until does not wait.
func Until(time.Time, ...int) uint { return 0 }
