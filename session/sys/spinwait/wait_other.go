//go:build !linux

// Package spinwait waits for descriptors on the calling thread where that is supported.
package spinwait

import "time"

// Period is unused here.
const Period = 20 * time.Millisecond

// MaxDescriptors bounds the descriptors of WaitUntil.
const MaxDescriptors = 8

// WaitReadable does not wait.
func WaitReadable(int) bool { return false }

// CanWait returns false.
func CanWait() bool { return false }

// WaitUntil does not wait.
func WaitUntil(time.Time, ...int) uint { return 0 }
