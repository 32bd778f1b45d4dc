package sys

import "strconv"

// DescriptorPath is the path of an open file, for calls that take none. Linux has it.
func DescriptorPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }
