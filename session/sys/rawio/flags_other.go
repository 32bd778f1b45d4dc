//go:build unix && !linux

package rawio

// cloexec is 0: callers mark received descriptors close-on-exec themselves.
const cloexec = 0
