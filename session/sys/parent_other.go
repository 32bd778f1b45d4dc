//go:build unix && !linux

package sys

// Parent is Stat.Parent.
func Parent(pid int) (int, error) { return statParent(pid) }
