//go:build unix && !linux

package nowait

// cloexec has descriptors that come closed in children: whoever takes them sees to it here.
const cloexec = 0
