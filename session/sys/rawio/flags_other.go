//go:build unix && !linux

package rawio

// cloexecFlag is 0: callers mark received descriptors close-on-exec themselves.
const cloexecFlag = 0
